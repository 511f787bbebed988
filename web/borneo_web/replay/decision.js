// What is decided in a position: the options, the one that was played, and what agents think of them.
function decide(content, view, at, title, place) {
  const player = content.players[at], seat = content.views[view].seat, decision = content.decisions[at];
  if (player < 0) {
    title.replaceChildren("The game is over");
    place.replaceChildren();
    return;
  }
  title.replaceChildren(token(player), `${content.names[player]} decides`);
  if (!decision || (seat !== null && seat !== player)) {
    place.replaceChildren(make("p", { class: "note" }, "The options would tell what is in this hand."));
  } else {
    place.replaceChildren(optionTable(content, decision, at));
  }
  place.scrollTop = 0;
  showWithin(place, place.querySelector(".played"));
}

function optionTable(content, { options, played }, at) {
  const thoughts = options.length > 1 ? content.thoughts : [];
  const heads = ["option", ...thoughts.map(({ agent }) => agent)];
  const rows = inOrder(options, thoughts, at).map((number) => {
    const note = number === played ? (options.length > 1 ? " ✓ played" : " ✓ played, there is no other") : "";
    const cells = thoughts.map((thought) => make("td", { class: "number share" }, ...opinion(thought, at, number)));
    return make("tr", number === played ? { class: "played" } : {}, make("td", {}, ...told(content, options[number]), note), ...cells);
  });
  return make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((words, i) => make("th", { scope: "col", class: i ? "number" : "" }, words)))),
    make("tbody", {}, ...rows));
}

// The numbers of the options: the most probable first, where an agent gives probabilities.
function inOrder(options, thoughts, at) {
  const shares = thoughts.find(({ probabilities }) => probabilities)?.probabilities[at];
  const numbers = [...options.keys()];
  return shares ? numbers.sort((one, other) => shares[other] - shares[one]) : numbers;
}

function opinion({ probabilities, choices }, at, number) {
  if (choices) return choices[at] === number ? ["★", make("span", { class: "spoken" }, " its choice")] : [];
  const share = probabilities[at][number];
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  bar.style.backgroundSize = `${share / 10}% 100%`;
  return [percent(share), bar];
}
