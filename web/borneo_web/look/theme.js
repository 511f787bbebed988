// Light or dark as the system has it, until somebody says otherwise: here, or on another page of the game's server.
// It runs before the page is painted.
{
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const kept = (theme) => {
    try {
      if (theme) localStorage.setItem("borneo-theme", theme);
      return localStorage.getItem("borneo-theme");
    } catch {
      return null; // a page inside another has no storage
    }
  };
  if (["dark", "light"].includes(kept())) root.dataset.theme = kept();

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      kept(root.dataset.theme);
      say();
    });
    system.addEventListener("change", say);
    say();
  });
}
