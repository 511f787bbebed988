// Choosing: what is clicked on the table, and the list of options in words, are two ways to say the same.

const DEEDS = { attack: "Attack", defend: "Defend" };

let drop = () => {}; // what has been chosen on the page that is shown
document.addEventListener("keydown", (event) => event.key === "Escape" && drop());

export function attach(main) {
  const form = main.querySelector("#choose");
  main.classList.add("scripted");
  if (!form) return;
  const verb = form.dataset.several; // of the cards of a contest: any number of them is one answer
  const preview = form.querySelector("#preview");
  const list = form.querySelector(".choices");
  const button = form.querySelector("#do");
  const lister = form.querySelector("#options");
  const options = [...form.querySelectorAll("input[name=move]")].map((input) => ({
    input,
    label: input.closest("label"),
    parts: input.dataset.parts ? input.dataset.parts.split(" > ") : [],
  }));
  const shapes = [...main.querySelectorAll("[data-part]")];
  let path = []; // what has been clicked so far, each in its place: null where something is still to come
  let asked = 0; // previews

  const checked = () => options.filter(({ input }) => input.checked);
  const leads = ({ parts }, to) => to.every((part, i) => part === null || parts[i] === part);
  const exact = () => options.find((option) => option.parts.length && option.parts.every((part, i) => path[i] === part));
  const named = (name) => shapes.find((shape) => shape.dataset.part === name);

  // The option that keeps most of what was chosen, with what is clicked now.
  function led(name) {
    let best = [], kept = 0;
    for (const { parts } of options.filter((option) => option.parts.includes(name))) {
      const to = parts.map((part, i) => (part === name || path[i] === part ? part : null));
      const fits = to.filter(Boolean).length;
      if (fits > kept) [best, kept] = [to, fits];
    }
    const left = options.filter((option) => leads(option, best) && option.parts.length === best.length);
    return left.length === 1 ? left[0].parts : best;
  }

  function mark() {
    const found = exact();
    const open = path.length > 0 && !found;
    const marked = verb ? checked().flatMap((option) => option.parts) : path;
    const next = new Set(open ? options.filter((option) => leads(option, path)).flatMap((option) => option.parts) : []);
    const live = new Set(options.flatMap((option) => option.parts));
    for (const shape of shapes) {
      const name = shape.dataset.part;
      shape.classList.toggle("chosen", marked.includes(name));
      shape.classList.toggle("live", live.has(name));
      shape.classList.toggle("next", next.has(name) && !marked.includes(name));
    }
    for (const option of options) option.label.classList.toggle("aside", open && !verb && !leads(option, path));
    ghost();
    say();
    tell().then(() => reveal(checked()[0]?.label)); // what is told takes room from the list
  }

  // Inside the list alone: the page stays where it is.
  function reveal(label) {
    if (!label) return;
    const [box, row] = [list.getBoundingClientRect(), label.getBoundingClientRect()];
    if (row.top < box.top) list.scrollTop -= box.top - row.top;
    else if (row.bottom > box.bottom) list.scrollTop += row.bottom - box.bottom;
  }

  // What would come of it, half transparent: a trader where it would stand, a card where it would lie.
  function ghost() {
    for (const one of main.querySelectorAll(".ghost")) one.remove();
    const [first, second] = checked()[0]?.parts ?? [];
    if (verb || !first) return;
    if (second?.startsWith("port ")) return lay(named(first), named(second).querySelector(".cargo"));
    const goal = second ?? first;
    if (goal.startsWith("company ")) {
      const trader = first.startsWith("trader ") ? named(first) : main.querySelector(`.own .chip, .player${main.dataset.seat}`);
      lay(trader, named(goal).querySelector("li:empty") ?? named(goal).querySelector("li:last-child"));
    } else if (second?.startsWith("trader ")) lay(named(first), named(second).parentElement);
  }

  function lay(piece, place) {
    const copy = piece.cloneNode(true);
    copy.classList.remove("live", "next", "chosen");
    copy.classList.add("ghost");
    copy.removeAttribute("data-part");
    copy.setAttribute("aria-hidden", "true");
    place.append(copy);
  }

  // What the button does; it does nothing until something is chosen.
  function say() {
    const cards = checked().length;
    if (verb) button.textContent = cards ? `${DEEDS[verb]} with ${cards} card${cards > 1 ? "s" : ""}` : nothing();
    button.disabled = !cards && !(verb && form.hasAttribute("data-none"));
  }

  function nothing() {
    if (!form.hasAttribute("data-none")) return "Choose cards";
    return verb === "defend" ? "Do not defend" : "Play no more cards";
  }

  async function tell() {
    const chosen = checked().map(({ input }) => input);
    const number = ++asked;
    if (verb) {
      if (!chosen.length && button.disabled) return preview.replaceChildren();
      const query = new URLSearchParams(chosen.map((input) => ["move", input.value]));
      const answer = await fetch(`${main.dataset.address}/preview?${query}`).catch(() => null);
      if (!answer) return; // the page says elsewhere that the server does not answer
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (number === asked) preview.replaceChildren(...(answer.ok ? page.body.childNodes : []));
    } else {
      const label = chosen[0]?.closest("label");
      const words = label ? [...label.querySelectorAll(".what, .more")].map((node) => node.cloneNode(true)) : [];
      preview.replaceChildren(...words);
    }
  }

  function click(name) {
    if (verb) {
      const { input } = options.find(({ parts }) => parts[0] === name);
      input.checked = !input.checked;
    } else {
      path = led(name);
      const found = exact();
      for (const option of options) option.input.checked = option === found;
    }
    mark();
  }

  function unfold(open) {
    main.classList.toggle("listing", open);
    lister.setAttribute("aria-expanded", open);
    if (open) reveal(checked()[0]?.label);
  }

  main.addEventListener("click", (event) => {
    const shape = event.target.closest(".next") ?? event.target.closest(".live");
    if (shape) click(shape.dataset.part);
  });
  drop = () => {
    if (!main.isConnected || main.classList.contains("showing")) return;
    if (main.classList.contains("listing")) return unfold(false);
    for (const { input } of options) input.checked = false;
    path = [];
    mark();
  };
  form.addEventListener("change", () => {
    path = verb ? [] : (checked()[0]?.parts ?? []);
    mark();
  });
  lister.addEventListener("click", () => unfold(!main.classList.contains("listing")));
  lister.hidden = false;
  if (!verb) path = checked()[0]?.parts ?? [];
  mark();
}
