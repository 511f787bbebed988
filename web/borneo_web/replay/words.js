// Words of the game: cargo cards in them are drawn in small, with the symbols of the board.
// "card 17 [red red green / blue, pepper x2]" of the story, and "17 rrg/b pepper x2" of an option.
const CARD = /\bcard (\d{1,2}) \[[a-z0-9/, ]*\]|\b(\d{1,2}) [rygb]{3}\/[rygb] [a-z]+(?: x2)?/g;
const PORT = / \([a-z]+, limit \d+, monopoly \d+\)/g; // stands on the board

function told(content, words) {
  const plain = words.replace(PORT, ""), pieces = [];
  let end = 0;
  for (const found of plain.matchAll(CARD)) {
    const number = Number(found[1] ?? found[2]);
    if (number >= content.cards.length) continue; // a name may look like a card
    pieces.push(plain.slice(end, found.index), card(number, content.cards[number]));
    end = found.index + found[0].length;
  }
  return [...pieces, plain.slice(end)];
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
