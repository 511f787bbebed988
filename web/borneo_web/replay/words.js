// Sentences of the game are lists of texts and things: [kind, number, words]. Cargo cards are drawn in small, with the
// symbols of the board; ports and companies stand there.
const told = (content, pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : shown(content, piece)));

function shown(content, [kind, number, words]) {
  if (kind === "card") return card(number, content.cards[number]);
  return kind === "player" ? content.names[number] : words;
}

// Whoever hears a card is told its flags, too.
function card(number, [first, second, third, below, spice, count]) {
  const flags = [...[first, second, third].map((flag) => symbol(flag, "0 0 22 18")), "/", symbol(below, "0 0 22 18")];
  return make("span", { class: "card" },
    make("b", {}, String(number)),
    make("span", { class: "spoken" }, ` (${first} ${second} ${third}, below ${below}) `),
    make("span", { class: "flags", "aria-hidden": "true" }, ...flags),
    symbol(spice, "-13 -13 26 26"), count === 2 ? `${spice} x2` : spice);
}

const symbol = (name, box) =>
  draw("svg", { viewBox: box, class: "symbol", "aria-hidden": "true" }, draw("use", { href: `#${name}` }));
