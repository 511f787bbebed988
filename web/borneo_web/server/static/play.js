// A seat at a table: forms and links without leaving the page, and news as they come.
import { attach } from "./choose.js";
import { begin, rest, setUpMotion, show, speed } from "./steps.js";

const PATIENCE = 250; // milliseconds: then an event has told that something has changed, or an agent thinks for long
const TITLE = document.title;
const SCROLLING = ["#hand", "#ladders"]; // they stay as somebody has moved them

let busy = false; // steps are being shown, or a page is being fetched
let stale = false; // something has changed meanwhile

const main = () => document.getElementById("main");
const version = (page) =>
  [page.dataset.told, page.dataset.state, page.dataset.next, page.querySelector("[name=decision]")?.value].join();

// The page of an answer; where it has none, what it says stands on the page that is there, as it is.
async function parsed(answer) {
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  const page = found.getElementById("main");
  if (page?.dataset.address) return page;
  refuse(found.querySelector(".problem")?.textContent ?? "The server could not answer.");
  return null;
}

function refuse(words) {
  document.getElementById("refused").textContent = words;
  document.getElementById("refused").hidden = false;
  rest(main());
}

// Whoever has chosen something, or asked the coach, finds it again while the same is decided.
function keep(before, page) {
  const advice = before.querySelector("section.coach");
  if (advice) page.querySelector("p.coach")?.replaceWith(advice);
  const chosen = [...before.querySelectorAll("[name=move]:checked")].map((input) => input.value);
  for (const input of page.querySelectorAll("[name=move]")) input.checked = chosen.includes(input.value);
}

function swap(page) {
  const ends = page.dataset.state === "over" && main().dataset.state !== "over";
  const open = [...main().querySelectorAll("details[open]")].map((details) => details.className);
  const scrolled = SCROLLING.map((place) => [place, main().querySelector(place)?.scrollLeft ?? 0, main().querySelector(place)?.scrollTop ?? 0]);
  if (version(page) === version(main())) keep(main(), page);
  main().replaceWith(page);
  for (const name of open) page.querySelector(`details.${name}`)?.setAttribute("open", "");
  for (const [place, across, down] of scrolled) Object.assign(page.querySelector(place) ?? {}, { scrollLeft: across, scrollTop: down });
  setUp();
  if (ends) scrollTo(0, 0); // to the winner
}

async function steps(since) {
  const answer = await fetch(`${main().dataset.address}/steps?since=${since}`);
  return answer.ok ? answer.json() : [];
}

async function refresh() {
  stale = true;
  if (busy) return;
  busy = true;
  try {
    while (stale) {
      stale = false;
      const answer = await fetch(main().dataset.address);
      if (answer.status === 404) return location.reload(); // the game is not there any more
      const page = await parsed(answer);
      if (!page) return;
      if (version(page) === version(main())) continue;
      if (speed()) await show(main(), await steps(main().dataset.told));
      swap(page);
      if (page.dataset.state === "asked") document.getElementById("status").focus({ preventScroll: true });
    }
    document.getElementById("lost").hidden = true;
  } catch {
    rest(main());
    document.getElementById("lost").hidden = false; // until the stream of events is there again
  } finally {
    busy = false;
  }
}

async function send(form, button) {
  const fields = new URLSearchParams(new FormData(form));
  const buttons = [...form.querySelectorAll("button:enabled")];
  for (const one of buttons) one.disabled = true;
  begin(main());
  try {
    const address = button?.getAttribute("formaction") ?? form.action;
    const answer = await fetch(address, { method: "POST", body: fields, redirect: "manual" });
    if (answer.type === "opaqueredirect") return setTimeout(() => form.isConnected && refresh(), PATIENCE);
    const page = await parsed(answer);
    if (page) return swap(page);
  } catch {
    document.getElementById("lost").hidden = false;
    rest(main());
  }
  for (const one of buttons) one.disabled = false;
}

// Ask the coach about what is chosen; whatever goes wrong is told, and it can be asked again.
async function ask(button) {
  const fields = new URLSearchParams(new FormData(button.form));
  fields.set(button.name, button.value);
  button.disabled = true;
  button.textContent = "The coach thinks …";
  document.getElementById("refused").hidden = true;
  try {
    const page = await parsed(await fetch(`${button.formAction}?${fields}`));
    if (page) {
      swap(page);
      return main().querySelector("section.coach, .coach button")?.focus(); // it may be far from where the button was
    }
  } catch {
    refuse("The server does not answer.");
  }
  button.disabled = false;
  button.textContent = "Ask again";
}

function setUp() {
  const form = document.getElementById("choose");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, event.submitter);
  });
  for (const button of main().querySelectorAll("[data-swap]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      ask(button);
    });
  }
  for (const link of main().querySelectorAll("[data-busy]")) {
    link.addEventListener("click", () => { link.textContent = link.dataset.busy; });
  }
  document.getElementById("status").tabIndex = -1;
  const advice = main().querySelector("section.coach");
  if (advice) advice.tabIndex = -1;
  document.title = main().dataset.state === "asked" ? `You decide · ${TITLE}` : TITLE;
  attach(main());
}

setUp();
setUpMotion();

let failed = 0; // times in a row that the stream of events broke off or did not begin
const events = new EventSource(`${main().dataset.address}/events`);
events.addEventListener("changed", refresh);
events.addEventListener("open", () => { failed = 0; });
events.addEventListener("error", () => {
  failed += 1;
  if (failed > 1) document.getElementById("lost").hidden = false; // whoever waits is told, too
});
