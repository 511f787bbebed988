// What has happened, step by step: what moved glides to its place, what changed lights up, and the words are told.

const KEY = "borneo-motion";
const SPEEDS = { off: 0, slow: 2.2, usual: 1, fast: 0.4 };
const ROUND = 5800; // milliseconds that all others together take at the usual speed, and so one of them its share
const PAUSE = 500, LETTER = 10, LONGEST = 2000; // of a step, if there is time enough
const LEAST = 90; // of a step, whatever has been shown before it
const GLIDE = 550; // at most: of one thing
const fresh = () => ({ turn: null, left: 0 });
let round = fresh(); // since the last own choice
const STILL = "(prefers-reduced-motion: reduce)";

export function speed() {
  const kept = localStorage.getItem(KEY);
  return SPEEDS[kept in SPEEDS ? kept : matchMedia(STILL).matches ? "off" : "usual"];
}

export function setUpMotion() {
  const select = document.getElementById("motion");
  for (const [name, pace] of Object.entries(SPEEDS)) {
    select.append(new Option(`Motion: ${name}`, name, false, pace === speed()));
  }
  select.hidden = false;
  select.addEventListener("change", () => localStorage.setItem(KEY, select.value));
}

/** Milliseconds for each step. A turn has its share of a round: where much happens in it, each step takes less.
 *
 * A round remembers whose turn was shown last, and how much of its share is left: steps may come in several pieces.
 */
export function schedule(steps, players, pace, round = fresh()) {
  const wanted = steps.map(({ told }) => Math.min(LONGEST, PAUSE + LETTER * told.join(" ").replace(/<[^>]*>/g, "").length));
  const whole = wanted.reduce((sum, time) => sum + time, 0);
  for (const { turn } of steps) {
    if (turn !== round.turn) round.left = Math.min(ROUND, round.left + ROUND / (players - 1));
    round.turn = turn;
  }
  const share = Math.min(1, Math.max(round.left, LEAST * steps.length) / whole);
  round.left -= share * whole;
  return wanted.map((time) => pace * share * time);
}

/** Show steps on the table. */
export async function show(main, steps) {
  if (!steps.length) return;
  const bar = main.querySelector("#step");
  const [head, lines, buttons, go] = ["h2", "ul", "p", "button"].map((kind) => document.createElement(kind));
  go.type = "button";
  go.textContent = "Skip";
  buttons.append(go);
  bar.replaceChildren(head, lines, buttons);
  lines.className = "story";
  cover(main);
  const times = schedule(steps, Number(main.dataset.players), speed(), round);
  let due = performance.now(); // the end of a step: a slow machine takes drawing from its time, and leaves motion out
  for (const [number, step] of steps.entries()) {
    const name = main.querySelector(`#player${step.who} .who`)?.textContent;
    head.textContent = String(step.who) === main.dataset.seat ? "You play" : `${name ?? "Somebody"} plays`;
    for (const words of step.told) {
      const line = document.createElement("li");
      line.innerHTML = words.charAt(0).toUpperCase() + words.slice(1);
      lines.append(line);
    }
    lines.scrollTop = lines.scrollHeight;
    due += times[number];
    lay(main, step, Math.max(0, Math.min(GLIDE, 0.8 * (due - performance.now()))));
    const clicked = new Promise((done) => go.addEventListener("click", () => done(true), { once: true }));
    const time = new Promise((done) => setTimeout(done, due - performance.now(), false));
    if ((await Promise.race([clicked, time])) || !main.isConnected) break;
  }
}

/** A choice was made: a new round begins. */
export function begin(main) {
  round = fresh();
  cover(main);
}

// From now on the options are not what is asked; a page that is fetched ends it.
function cover(main) {
  main.classList.remove("listing");
  main.classList.add("showing");
  main.querySelector("#step").hidden = false;
  main.querySelector("#choose")?.setAttribute("inert", "");
  for (const ghost of main.querySelectorAll(".ghost")) ghost.remove();
  for (const shape of main.querySelectorAll("[data-part]")) shape.classList.remove("live", "chosen", "next");
}

/** The options are asked again: nothing came of it. */
export function rest(main) {
  main.classList.remove("showing");
  main.querySelector("#step").hidden = true;
  const form = main.querySelector("#choose");
  form?.removeAttribute("inert");
  form?.dispatchEvent(new Event("change")); // so that what is chosen is marked again
}

// Put the pieces of a step in the place of those that were there.
function lay(main, { pieces, who }, time) {
  const before = time ? located(main) : null, looked = time ? looks(main) : null;
  for (const html of pieces) {
    const piece = document.createElement("template");
    piece.innerHTML = html;
    document.getElementById(piece.content.firstElementChild.id)?.replaceWith(piece.content);
  }
  if (!time) return;
  const after = located(main);
  for (const [thing, { element, box }] of after) {
    const was = before.get(thing);
    const from = was?.box ?? origin(main, element, who)?.getBoundingClientRect();
    if (from) glide(element, from, box, time, was && was.element.className !== element.className);
  }
  for (const [thing, { element, box }] of before) {
    if (!after.has(thing)) leave(element, box, goal(main, element, who), time);
  }
  for (const [name, element] of looks(main, true)) {
    if (looked.has(name) && looked.get(name) !== element.textContent) light(element, time);
  }
}

// Cards by their numbers; traders by their players, those who stay on a ladder first.
function located(main) {
  const found = new Map();
  for (const element of main.querySelectorAll('[data-part^="card "], .ladder .chip')) {
    let name = element.dataset.part;
    if (element.matches(".chip")) {
      const company = name.split(" ")[1], player = element.textContent;
      for (let i = 0; found.has((name = `${company} ${player} ${i}`)); ) i += 1;
    }
    found.set(name, { element, box: element.getBoundingClientRect() });
  }
  return found;
}

const strip = (main, who) => main.querySelector(`[data-part="hand ${who}"]`) ?? main.querySelector("#hand");
const pile = (main, name) => main.querySelector(`[data-part="pile ${name}"]`);

// Where a thing comes from that was not on the table before.
function origin(main, element, who) {
  if (element.matches(".chip")) return main.querySelector(`#player${element.textContent} .chip`);
  return element.closest("#hand") ? pile(main, "draw") : strip(main, who);
}

// Where a thing goes that is not on the table any more.
function goal(main, element, who) {
  if (element.matches(".chip")) return null;
  return element.closest(".cargo") ? main.querySelector(`#player${who}`) : pile(main, "discards");
}

function glide(element, from, to, time, other) {
  const [x, y] = [from.left - to.left, from.top - to.top];
  if (Math.abs(x) + Math.abs(y) < 3 || !to.width) return;
  const start = { transform: `translate(${x}px, ${y}px) scale(${other ? 1 : Math.min(2, from.width / to.width)})`, zIndex: 9 };
  element.animate([{ ...start, transformOrigin: "0 0" }, { transformOrigin: "0 0", zIndex: 9 }], { duration: time, easing: "ease-in-out" });
}

function leave(element, from, to, time) {
  const end = to?.getBoundingClientRect();
  if (!end?.width || !from.width) return;
  const copy = element.cloneNode(true);
  copy.removeAttribute("data-part");
  copy.classList.add("flying");
  Object.assign(copy.style, { left: `${from.left}px`, top: `${from.top}px`, width: `${from.width}px`, height: `${from.height}px` });
  document.body.append(copy);
  const there = `translate(${end.left + end.width / 2 - from.left - from.width / 2}px, ${end.top - from.top}px) scale(0.3)`;
  copy.animate([{}, { transform: there, opacity: 0.4 }], { duration: time, easing: "ease-in" }).finished.finally(() => copy.remove());
}

// What is told by figures: shelves, contracts, piles, flags and crates of ports, points.
function looks(main, elements = false) {
  const found = new Map();
  const figures = '[data-part]:not([data-part^="card "], [data-part^="trader "], [data-part^="company "], [data-part^="port "]), .gauges > li, .limit, .points';
  for (const element of main.querySelectorAll(figures)) {
    const home = element.dataset.part ?? `${element.closest("[id]").id} ${element.className} ${[...element.parentElement.children].indexOf(element)}`;
    found.set(home, elements ? element : element.textContent);
  }
  return found;
}

function light(element, time) {
  element.animate([{ boxShadow: "0 0 0 3px #d29a2e" , offset: 0.3 }, { boxShadow: "0 0 0 3px #d29a2e00" }], { duration: 2 * time });
}
