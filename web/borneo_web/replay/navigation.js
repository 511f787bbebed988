// Where the game is, and how one gets elsewhere: buttons, keys, the slider and the address.
const JUMPS = { t: "turn", c: "contest", k: "contract" };
const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };

class Navigation {
  constructor(content, show) {
    this.content = content;
    this.last = content.turns.length - 1;
    this.at = 0;
    this.show = show;
  }

  within(at) {
    return Math.min(this.last, Math.max(0, Math.trunc(at) || 0));
  }

  go(at) {
    this.at = this.within(at);
    this.show(this.at);
    try {
      if (location.hash !== `#${this.at}`) history.replaceState(null, "", `#${this.at}`);
    } catch {
      // a page inside another has no address of its own, and some browsers refuse many changes in a short time
    }
  }

  target(step, backwards = false) {
    const places = { first: 0, back: this.at - 1, on: this.at + 1, last: this.last };
    if (step in places) return this.within(places[step]);
    const jumps = this.content.jumps[step];
    const found = backwards ? jumps.findLast((at) => at < this.at) : jumps.find((at) => at > this.at);
    return found ?? this.at;
  }

  step(step, backwards) {
    this.go(this.target(step, backwards));
  }

  addressed() {
    const found = /^#(\d{1,6})$/.exec(location.hash);
    return this.within(found ? Number(found[1]) : 0);
  }

  fromAddress() {
    this.go(this.addressed());
  }

  // Whether a key was one of ours.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, dialog")) return false;
    const step = KEYS[event.key] ?? JUMPS[event.key.toLowerCase()];
    if (step) this.step(step, event.shiftKey);
    return Boolean(step);
  }
}
