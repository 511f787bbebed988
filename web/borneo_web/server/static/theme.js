// Light or dark as the system has it, until somebody says otherwise. It runs before the page is painted.
{
  const KEY = "borneo-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const kept = localStorage.getItem(KEY);
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      localStorage.setItem(KEY, root.dataset.theme);
      say();
    });
    system.addEventListener("change", say);
    say();
  });
}
