// How much of a long conversation is on the page: more comes before one gets to an end, and what is far away goes.

const AHEAD = "1500px 0px";
const MOST = 120;

export class Stretch {
  #base;
  #observer;

  constructor(base, scroller) {
    this.#base = base;
    this.#observer = new IntersectionObserver(near, { root: scroller, rootMargin: AHEAD });
  }

  watch(log) {
    this.#observer.disconnect();
    for (const link of log.querySelectorAll("#earlier, #later")) this.#observer.observe(link);
  }

  // After more came at one end, what the other end has too much of; none of it where something is done in it.
  trim(log, came) {
    const turns = [...log.querySelectorAll(".turn")];
    const far = came === "earlier" ? turns.slice(MOST) : turns.slice(0, -MOST);
    if (!far.length || far.some(inUse)) return;
    for (const turn of far) turn.remove();
    if (came === "earlier") this.#lead(log.querySelector("#later"), `after=${turns[MOST - 1].dataset.turn}`);
    else {
      log.querySelector(".before-all")?.remove();
      this.#lead(log.querySelector("#earlier"), `before=${turns.at(-MOST).dataset.turn}`);
    }
  }

  #lead(link, where) {
    link.href = `${this.#base}log/?${where}`;
    link.setAttribute("hx-get", link.href);
    link.hidden = false;
    window.htmx.process(link);
  }
}

function near(seen) {
  for (const { isIntersecting, target } of seen) if (isIntersecting) window.htmx.trigger(target, "near");
}

function inUse(turn) {
  const { state } = turn.dataset;
  return state === "running" || state === "queued" || turn.contains(document.activeElement) || turn.querySelector(".edit");
}
