// The story in words, every move with its address, and the moments that decided the game.
const heard = (content, view, at) =>
  content.story[at].filter(([, , seat]) => seat === null || content.views[view].seat === null || content.views[view].seat === seat);

function tellAll(content, view, place) {
  const lines = [];
  content.story.forEach((_, at) => {
    const told = heard(content, view, at);
    for (const [words, kind] of told) if (kind === "heading") lines.push(make("h3", {}, words));
    const others = told.filter(([, kind]) => kind !== "heading");
    if (others.length) {
      lines.push(make("a", { href: `#${at}` }, ...others.map(([words, kind]) => make("p", { class: kind }, words))));
    }
  });
  place.replaceChildren(...lines);
}

function tellNow(content, view, at, place) {
  const told = heard(content, view, at).map(([words, kind]) => make("p", { class: kind }, words));
  place.replaceChildren(...(told.length ? told : [make("p", {}, "The cards are dealt.")]));
}

function tellMoments(content, view, place) {
  const { win, moments } = content.views[view];
  const items = moments.map(([from, to, player]) => {
    const words = heard(content, view, from + 1).find(([, kind]) => kind === "move");
    const change = `${percent(win[from][player])} → ${percent(win[to][player])}`;
    return make("li", {}, make("a", { href: `#${to}` },
      token(player), `${content.names[player]} `, make("b", {}, change), ` · move ${from + 1}: ${words ? words[0] : ""}`));
  });
  place.replaceChildren(...(items.length ? items : [make("li", {}, "No single move changed much.")]));
}

function mark(place, at) {
  for (const link of place.querySelectorAll("a")) {
    if (link.hash === `#${at}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// Scroll the list, and nothing else, to the line that is marked.
function scrollToMark(place) {
  const line = place.querySelector("[aria-current]");
  if (line) place.scrollTop = line.offsetTop - place.clientHeight / 2;
}
