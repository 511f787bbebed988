// Light or dark as the system has it, until somebody says otherwise: here, or on another page of the game's server.
function theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const set = (dark) => {
    root.classList.toggle("dark", dark);
    find("theme").textContent = dark ? "Light" : "Dark";
    find("theme").setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
  };
  const chosen = kept();
  let free = chosen === null;
  system.addEventListener("change", () => { if (free) set(system.matches); });
  find("theme").addEventListener("click", () => {
    free = false;
    set(!root.classList.contains("dark"));
    kept(root.classList.contains("dark") ? "dark" : "light");
  });
  set(free ? system.matches : chosen === "dark");
}

function kept(theme) {
  try {
    if (theme) localStorage.setItem("borneo-theme", theme);
    return localStorage.getItem("borneo-theme");
  } catch {
    return null; // a page inside another has no storage
  }
}

theme();
