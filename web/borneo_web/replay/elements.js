// Elements of the page. Words become text, never markup.
const SVG = "http://www.w3.org/2000/svg";
const find = (id) => document.getElementById(id);

function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const token = (player) => make("span", { class: `trader player${player}`, "aria-hidden": "true" }, String(player));
const percent = (perMille) => `${Math.round(perMille / 10)} %`;
