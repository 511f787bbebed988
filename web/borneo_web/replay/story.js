// The story in words, every move with its address, and the moments that decided the game.
const known = (content, view, at) =>
  content.story[at].filter(([, , seat]) => seat === null || content.views[view].seat === null || content.views[view].seat === seat);

function tellAll(content, view, place) {
  const lines = [];
  content.story.forEach((_, at) => {
    const here = known(content, view, at);
    for (const [words, kind] of here) if (kind === "heading") lines.push(make("h3", {}, ...told(content, words)));
    const others = here.filter(([, kind]) => kind !== "heading");
    if (others.length) {
      lines.push(make("a", { href: `#${at}` }, ...others.map((line) => paragraph(content, line))));
    }
  });
  place.replaceChildren(...lines);
}

const paragraph = (content, [words, kind]) => make("p", { class: kind }, ...told(content, words));

function tellNow(content, view, at, place) {
  const lines = known(content, view, at).map((line) => paragraph(content, line));
  place.replaceChildren(...(lines.length ? lines : [make("p", {}, "The cards are dealt.")]));
}

function tellMoments(content, view, place) {
  const { win, moments } = content.views[view];
  const items = moments.map(([from, to, player]) => {
    const words = known(content, view, from + 1).find(([, kind]) => kind === "move");
    const change = `${percent(win[from][player])} → ${percent(win[to][player])}`;
    return make("li", {}, make("a", { href: `#${to}` },
      token(player), `${content.names[player]} `, make("b", {}, change), ` · move ${from + 1}: `, ...told(content, words ? words[0] : [])));
  });
  place.replaceChildren(...(items.length ? items : [make("li", {}, "No single move changed much.")]));
}

function mark(place, at) {
  for (const link of place.querySelectorAll("a")) {
    if (link.hash === `#${at}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// Scroll a list, and nothing else, so that a line of it is in the middle.
function showWithin(place, line) {
  if (!line) return;
  const above = line.getBoundingClientRect().top - place.getBoundingClientRect().top;
  place.scrollTop += above - (place.clientHeight - line.offsetHeight) / 2;
}
