// The curves of points and of win probability, with everybody's number where the game is.
const WIDE = 420, HIGH = 170, LEFT = 48, RIGHT = 12, TOP = 10, BOTTOM = 22, APART = 15;

class Curve {
  constructor(title, values, unit, go) {
    const most = Math.max(1, ...values.flat()), least = Math.min(0, ...values.flat());
    this.values = values;
    this.x = (at) => LEFT + (WIDE - LEFT - RIGHT) * at / Math.max(1, values.length - 1);
    this.y = (value) => TOP + (HIGH - TOP - BOTTOM) * (most - value) / (most - least);
    this.cursor = draw("g");
    this.drawing = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${title}, by moves` });
    this.drawing.append(...this.grid(least, most, unit), ...this.lines(), this.cursor);
    this.figure = make("figure", {}, make("figcaption", {}, title), this.drawing);
    const follow = (event) => { if (event.buttons) go(this.moveAt(event)); };
    this.drawing.addEventListener("pointerdown", follow);
    this.drawing.addEventListener("pointermove", follow);
  }

  moveAt(event) {
    const box = this.drawing.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * WIDE - LEFT) / (WIDE - LEFT - RIGHT);
    return Math.round(share * (this.values.length - 1));
  }

  *grid(least, most, unit) {
    for (const value of [least, (least + most) / 2, most]) {
      const y = this.y(value);
      yield draw("line", { class: "grid", x1: LEFT, x2: WIDE - RIGHT, y1: y, y2: y });
      yield draw("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, unit(value));
    }
    const last = this.values.length - 1;
    yield draw("text", { x: LEFT, y: HIGH - 5 }, "0");
    yield draw("text", { x: WIDE - RIGHT, y: HIGH - 5, "text-anchor": "end" }, `move ${last}`);
  }

  *lines() {
    for (const player of this.values[0].keys()) {
      const points = this.values.map((row, at) => `${this.x(at).toFixed(1)},${this.y(row[player]).toFixed(1)}`).join(" ");
      yield draw("polyline", { class: "case", points });
      yield draw("polyline", { class: `line player${player}`, points });
    }
  }

  show(at) {
    const x = this.x(at), row = this.values[at];
    const order = [...row.keys()].sort((one, other) => row[other] - row[one]);
    const heights = spread(order.map((player) => this.y(row[player])));
    this.cursor.replaceChildren(
      draw("line", { class: "cursor", x1: x, x2: x, y1: TOP - 6, y2: HIGH - BOTTOM }),
      ...order.map((player, i) => draw("g", { class: `point player${player}` },
        draw("circle", { cx: x, cy: heights[i], r: 7.5 }), draw("text", { x, y: heights[i] + 4 }, String(player)))));
  }
}

// Heights from the top down, moved apart so that none covers another.
function spread(heights) {
  const placed = [...heights];
  for (let i = 1; i < placed.length; i++) placed[i] = Math.max(placed[i], placed[i - 1] + APART);
  const over = placed.at(-1) - (HIGH - BOTTOM);
  if (over > 0) placed[placed.length - 1] -= over;
  for (let i = placed.length - 2; i >= 0; i--) placed[i] = Math.min(placed[i], placed[i + 1] - APART);
  return placed;
}
