// The start page: agents that cannot play the chosen game cannot be chosen, and records are sent.
import "./upload.js";

const form = document.getElementById("new");
const moved = document.getElementById("moved");
const USUAL = "normal"; // who sits down instead

function offer() {
  const game = `${form.elements.edition.value}-${form.elements.players.value}`;
  const gone = new Set();
  for (const option of form.querySelectorAll("option[data-games]")) {
    option.disabled = !option.dataset.games.split(" ").includes(game);
    if (!option.disabled || !option.selected) continue;
    option.closest("select").value = USUAL;
    if (option.closest(".seat").offsetParent) gone.add(option.value);
  }
  moved.textContent = gone.size ? `Made for other games: ${[...gone].join(", ")}. Instead: ${USUAL}.` : "";
}

for (const pick of form.querySelectorAll("[name=edition], [name=players]")) pick.addEventListener("change", offer);
offer();
