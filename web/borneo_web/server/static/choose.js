// Choosing: what is clicked in the picture, and the list of options in words, are two ways to say the same.

export function attach(main) {
  const form = main.querySelector("#choose");
  if (!form) return;
  const several = form.hasAttribute("data-several");
  const preview = form.querySelector("#preview");
  const options = [...form.querySelectorAll("input[name=move]")].map((input) => ({
    input,
    parts: input.dataset.parts ? input.dataset.parts.split(" > ") : [],
  }));
  const shapes = [...main.querySelectorAll("#board [data-part]")];
  const parts = () => options.find(({ input }) => input.checked)?.parts ?? [];
  let path = several ? [] : parts(); // what has been clicked so far

  const leads = (option, to) => to.every((part, i) => option.parts[i] === part);
  const exact = () => options.find((option) => path.length && option.parts.length === path.length && leads(option, path));

  function live(name) {
    if (several) return options.some((option) => option.parts[0] === name);
    const next = (at) => options.some((option) => leads(option, at) && option.parts[at.length] === name);
    return next(path) || next([]);
  }

  function mark() {
    const marked = several ? options.filter(({ input }) => input.checked).flatMap((option) => option.parts) : path;
    for (const shape of shapes) {
      const name = shape.dataset.part;
      shape.classList.toggle("chosen", marked.includes(name));
      shape.classList.toggle("live", live(name));
      shape.classList.toggle("next", path.length > 0 && !exact() && options.some((o) => leads(o, path) && o.parts[path.length] === name));
    }
    for (const option of options) {
      option.input.closest("label").classList.toggle("aside", !several && path.length > 0 && !exact() && !leads(option, path));
    }
    tell();
  }

  async function tell() {
    const chosen = options.filter(({ input }) => input.checked).map(({ input }) => input);
    if (several) {
      const query = new URLSearchParams(chosen.map((input) => ["move", input.value]));
      const answer = await fetch(`${main.dataset.address}/preview?${query}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      preview.replaceChildren(...(answer.ok ? page.body.childNodes : []));
    } else {
      const label = chosen[0]?.closest("label");
      const words = label ? [...label.querySelectorAll(".what, .more")].map((node) => node.cloneNode(true)) : [];
      preview.replaceChildren(...words);
    }
  }

  function click(name) {
    if (several) {
      const option = options.find(({ parts }) => parts[0] === name);
      option.input.checked = !option.input.checked;
    } else {
      const next = [...path, name];
      path = options.some((option) => leads(option, next)) ? next : [name];
      const found = exact();
      for (const option of options) option.input.checked = option === found;
      found?.input.closest("label").scrollIntoView({ block: "nearest" });
    }
    mark();
  }

  main.querySelector("#board").addEventListener("click", (event) => {
    const shape = event.target.closest(".next") ?? event.target.closest(".live");
    if (shape) click(shape.dataset.part);
  });
  form.addEventListener("change", () => {
    path = several ? [] : parts();
    mark();
  });
  mark();
}
