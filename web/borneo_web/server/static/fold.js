// On a phone the picture comes apart: each part of it stands by itself, large enough to read and to touch.
export const narrow = matchMedia("(max-width: 40rem)");

const TITLE = 0, STRIP = 7; // panes that a phone leaves out: the page itself says what they say
const SVG = "http://www.w3.org/2000/svg";

export function fold(main) {
  const board = main.querySelector("#board");
  let box = null, part = null; // where the pane before went
  board.classList.add("folded");
  for (const pane of [...board.querySelectorAll("[data-pane]")]) {
    const number = Number(pane.dataset.pane);
    if (number === TITLE || number === STRIP) continue;
    const own = pane.dataset.box.split(" ").map(Number);
    if (!box || !within(own, box)) {
      box = own;
      part = document.createElementNS(SVG, "svg");
      part.setAttribute("viewBox", `${box[0]} ${box[1]} ${box[2] - box[0]} ${box[3] - box[1]}`);
      part.setAttribute("class", `part pane${number}`);
      part.classList.toggle("board-part", number < STRIP);
      board.append(part);
    }
    part.append(pane);
    if (number > STRIP && pane.querySelector('[data-part^="card "]')) part.classList.add("own");
  }
}

function within([left, top, right, bottom], box) {
  return left >= box[0] && top >= box[1] && right <= box[2] && bottom <= box[3];
}
