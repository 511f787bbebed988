// Puts the page together.
async function start() {
  const content = await unpack(find("content").textContent);
  const board = new Board(content, find("picture"));
  let view = 0, curves = [];
  const steps = new Navigation(content, show);

  function show(at) {
    const { win } = content.views[view];
    const place = `Move ${at} of ${steps.last}`, turn = content.turns[at] ? `, turn ${content.turns[at]}` : "";
    const standing = content.names.map((name, player) => `${name} ${content.points[at][player]} points`).join(", ");
    board.show(view, at, `The board. ${place}${turn}. ${standing}.`);
    find("now-title").textContent = place + turn;
    find("slider").value = at;
    find("slider").setAttribute("aria-valuetext", place + turn);
    tellNow(content, view, at, find("told"));
    decide(content, view, at, find("decision-title"), find("options"));
    find("players").replaceChildren(...content.names.map((name, player) => make("tr",
      content.players[at] === player ? { class: "decides" } : {},
      make("td", {}, token(player), name),
      make("td", {}, String(content.points[at][player])), make("td", {}, percent(win[at][player])))));
    for (const curve of curves) curve.show(at);
    for (const list of [find("lines"), find("swings")]) mark(list, at);
    showWithin(find("lines"), find("lines").querySelector("[aria-current]"));
    for (const button of document.querySelectorAll("[data-step]")) {
      button.disabled = steps.target(button.dataset.step) === at && button !== document.activeElement;
    }
  }

  function look(chosen) {
    view = chosen;
    const go = (at) => steps.go(at);
    curves = [
      new Curve("points", content.points, (value) => String(Math.round(value)), go),
      new Curve("win probability (estimate)", content.views[view].win, percent, go),
    ];
    find("curves").replaceChildren(...curves.map((curve) => curve.figure));
    tellAll(content, view, find("lines"));
    tellMoments(content, view, find("swings"));
  }

  find("view").append(...content.views.map(({ name }, number) => make("option", { value: number }, name)));
  find("view").addEventListener("change", (event) => { look(Number(event.target.value)); show(steps.at); });
  find("slider").max = steps.last;
  find("slider").addEventListener("input", (event) => steps.go(Number(event.target.value)));
  for (const button of document.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => steps.step(button.dataset.step));
  }
  document.addEventListener("keydown", (event) => {
    if (steps.key(event)) event.preventDefault();
    else if (event.key === "Escape" && enlarged() && !event.target.closest("dialog")) zoom();
    else if (event.key === "z" && !event.target.closest("select, dialog")) zoom();
    else if (event.key === "?") find("help").showModal();
  });
  window.addEventListener("hashchange", () => steps.fromAddress());
  find("help-open").addEventListener("click", () => find("help").showModal());
  find("zoom").addEventListener("click", () => zoom());
  find("picture").addEventListener("click", zoom);
  board.show(view, steps.addressed(), "The board");
  await painted();
  look(0);
  steps.fromAddress();
  document.documentElement.dataset.ready = "true";
}

// The picture is seen before the rest of the page is made; in a tab that nobody sees, nothing is painted.
function painted() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 200);
  });
}

const enlarged = () => find("picture").classList.contains("large");

// Enlarges the board around the point that was clicked, or makes it fit again.
function zoom(event) {
  const figure = find("picture"), box = figure.getBoundingClientRect();
  const x = event ? (event.clientX - box.left) / box.width : 0.5, y = event ? (event.clientY - box.top) / box.height : 0.5;
  const large = figure.classList.toggle("large");
  find("zoom").setAttribute("aria-pressed", String(large));
  figure.scrollTo(x * (figure.scrollWidth - box.width), y * (figure.scrollHeight - box.height));
}

start().catch((error) => {
  find("trouble").hidden = false;
  find("trouble").textContent = `The game cannot be shown (${error.message}). A browser from 2024 or newer is needed.`;
});
