// The board. A picture is its head, its parts from the ground up, and its tail; the next one is what has changed.
function pictureLists(view, count) {
  const now = new Array(count).fill(0);
  return view.pictures.map((changes) => {
    for (let i = 0; i < changes.length; i += 2) now[changes[i]] = changes[i + 1];
    return now.slice();
  });
}

class Board {
  constructor(content, figure) {
    this.content = content;
    this.shown = content.parts.map(() => null);
    this.lists = content.views.map((view) => pictureLists(view, content.parts.length));
    this.drawing = document.importNode(parsed(content.head + content.tail), true);
    this.drawing.setAttribute("role", "img");
    this.groups = content.parts.map(() => this.drawing.appendChild(draw("g")));
    figure.append(this.drawing);
  }

  show(view, at, label) {
    this.lists[view][at].forEach((number, part) => {
      const text = this.content.parts[part][number];
      if (this.shown[part] === text) return;
      this.shown[part] = text;
      const drawn = parsed(`<svg xmlns="${SVG}">${text}</svg>`);
      this.groups[part].replaceChildren(...document.importNode(drawn, true).childNodes);
    });
    this.drawing.setAttribute("aria-label", label);
  }
}

function parsed(text) {
  return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
}
