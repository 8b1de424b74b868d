// Follows the newest text only while the reader is at the bottom.

const NEAR = 48;

export class Follower {
  #scroller;
  #jump;
  pinned = true;

  constructor(scroller, jump, watched) {
    this.#scroller = scroller;
    this.#jump = jump;
    scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    jump.addEventListener("click", () => this.pin());
    const observer = new ResizeObserver(() => this.#follow());
    for (const node of [scroller, ...watched]) observer.observe(node);
  }

  watch(node) {
    new ResizeObserver(() => this.#follow()).observe(node);
  }

  pin() {
    this.pinned = true;
    this.#follow();
  }

  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    this.pinned = scrollHeight - scrollTop - clientHeight < NEAR;
    this.#jump.hidden = this.pinned;
  }

  #follow() {
    if (this.pinned) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#look();
  }
}
