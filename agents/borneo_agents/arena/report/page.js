const root = document.documentElement, button = document.getElementById("theme");
const kept = (theme) => {
  try {
    if (theme) localStorage.setItem("borneo-theme", theme);
    return localStorage.getItem("borneo-theme") ?? "";
  } catch { return ""; }
};
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const say = () => { button.textContent = dark() ? "Light" : "Dark"; };
if (["light", "dark"].includes(kept())) root.dataset.theme = kept();
button.addEventListener("click", () => { kept(root.dataset.theme = dark() ? "light" : "dark"); say(); });
system.addEventListener("change", say);
button.hidden = false;
say();
