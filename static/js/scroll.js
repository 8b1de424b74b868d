// Follows the newest text only while the reader is at the bottom, and the bottom is the end of the log.

const NEAR = 48;

export class Follower {
  #scroller;
  #jump;
  #top = 0;
  #height = 0;
  #log;
  pinned = true;

  constructor(scroller, jump, watched, log) {
    this.#scroller = scroller;
    this.#jump = jump;
    this.#log = log;
    scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    const observer = new ResizeObserver(() => this.#follow());
    for (const node of [scroller, ...watched]) observer.observe(node);
  }

  watch(node) {
    new ResizeObserver(() => this.#follow()).observe(node);
  }

  pin() {
    this.pinned = !this.#log.detached;
    this.#follow();
  }

  // Away from the end means unpinned only where the reader went up: text that grows moves the end away as well.
  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (this.#log.detached) this.pinned = false;
    else if (scrollHeight - scrollTop - clientHeight < NEAR) this.pinned = true;
    else if (scrollTop < this.#top && scrollHeight === this.#height) this.pinned = false;
    this.#top = scrollTop;
    this.#height = scrollHeight;
    this.#jump.hidden = this.pinned;
  }

  #follow() {
    if (this.pinned) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#look();
  }
}
