// What has happened, step by step: one picture after the other, with its words. Motion can be turned off.

const PAUSE = 700; // milliseconds for each step, and so many more for each letter that is read
const LETTER = 9;
const KEY = "borneo-motion";

export function motion() {
  const kept = localStorage.getItem(KEY);
  return kept ? kept === "on" : !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function setUpMotion() {
  const button = document.getElementById("motion");
  const say = () => {
    button.textContent = `Motion: ${motion() ? "on" : "off"}`;
    button.setAttribute("aria-pressed", motion());
    document.documentElement.classList.toggle("still", !motion());
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    localStorage.setItem(KEY, motion() ? "off" : "on");
    say();
  });
  say();
}

/** Show steps in the picture; by hand, each waits for a click. */
export async function show(main, steps, byHand = false) {
  if (!steps.length) return;
  const bar = main.querySelector("#step");
  const form = main.querySelector("#choose");
  let skipped = false;
  bar.hidden = false;
  if (form) form.inert = true;
  for (const shape of main.querySelectorAll(".live, .chosen, .next")) shape.classList.remove("live", "chosen", "next");
  for (const [number, step] of steps.entries()) {
    if (skipped || !main.isConnected) break;
    const words = document.createElement("span");
    words.innerHTML = step.told.map((line) => line.charAt(0).toUpperCase() + line.slice(1)).join("<br>");
    const go = document.createElement("button");
    go.type = "button";
    go.textContent = byHand ? `Next (${number + 1} of ${steps.length})` : "Skip";
    bar.replaceChildren(words, go);
    for (const [pane, content] of Object.entries(step.panes)) {
      const group = main.querySelector(`[data-pane="${pane}"]`);
      if (!group || group.innerHTML === content) continue;
      group.innerHTML = content;
      group.classList.remove("fresh");
      group.getBBox(); // so that the animation begins anew
      group.classList.add("fresh");
    }
    const clicked = new Promise((done) => go.addEventListener("click", () => done(true)));
    const time = new Promise((done) => byHand || setTimeout(done, PAUSE + LETTER * words.textContent.length, false));
    if (byHand) go.focus();
    if ((await Promise.race([clicked, time])) && !byHand) skipped = true;
  }
  bar.hidden = true;
  if (form) form.inert = false;
}
