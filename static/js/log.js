// The turns on the page. Text that streams is appended by its offset; everything else is read again from the server.

import { data, part } from "./http.js";
import { enhance } from "./copy.js";
import { Live } from "./live.js";
import { Stretch } from "./stretch.js";

const RETRY_AFTER = 1_500;
// Another one in each answer.
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

export class Log {
  #base;
  #changed;
  #jobs = new Map();
  #shown = new Map();
  #unpainted = new Map();
  #stopping = new Set();
  #unseen = new Set();
  #stretch;
  #scroller;

  constructor(base, changed, scroller) {
    this.#base = base;
    this.#scroller = scroller;
    this.#stretch = new Stretch(base, scroller);
    this.#changed = changed;
    this.#remember(this.node);
    prepare(this.node);
    this.#stretch.watch(this.node);
  }

  get node() {
    return document.getElementById("log");
  }

  get seq() {
    return Number(this.node.dataset.seq);
  }

  get running() {
    return this.node.querySelector('.turn[data-state="running"]');
  }

  // Turns that offer Retry; only the last one may.
  get retryable() {
    return Array.from(this.node.querySelectorAll("[data-retry]"), (form) => Number(form.closest(".turn").dataset.turn));
  }

  // Later turns than those on the page are there, and come when one scrolls to them.
  get detached() {
    return Boolean(this.node.querySelector("#later:not([hidden])"));
  }

  turn(number) {
    return document.getElementById(`turn-${number}`);
  }

  stopping(run) {
    this.#stopping.add(run);
    const article = this.node.querySelector(`.turn[data-run="${run}"]`);
    if (article?.dataset.state === "running") article.dataset.phase = "stopping";
  }

  // Returns the number of the last event that the new log contains, or null if it could not be read. What is on the page
  // stays on it, and where one reads far back it stays there, unless the newest turns are asked for.
  async reload({ newest = false } = {}) {
    const [first] = this.#ends();
    const stretch = this.detached ? `around=${this.#inSight().dataset.turn}` : `since=${first || 1}`;
    const answer = await part(`${this.#base}log/${newest ? "" : `?${stretch}`}`);
    if (!answer.ok) return null;
    await editorCame(this.node);
    const reading = newest ? null : this.#inSight();
    const top = reading?.getBoundingClientRect().top;
    const fresh = parse(answer.data).querySelector("#log");
    this.#remember(fresh);
    for (const article of fresh.querySelectorAll(".turn")) this.#settleIn(this.turn(article.dataset.turn), article);
    replace(this.node, fresh);
    this.#arrived(fresh);
    this.#stretch.watch(fresh);
    const twin = reading && this.turn(reading.dataset.turn);
    if (twin) this.#scroller.scrollTop += twin.getBoundingClientRect().top - top;
    return this.seq;
  }

  // The turn that is being read: the first one that has not passed the upper edge.
  #inSight() {
    const { top } = this.#scroller.getBoundingClientRect();
    const turns = [...this.node.querySelectorAll(".turn")];
    return turns.find((turn) => turn.getBoundingClientRect().bottom > top) ?? turns.at(-1);
  }

  // More turns of the log, at either end.
  moreCame(end) {
    this.#stretch.trim(this.node, end);
    this.#stretch.watch(this.node);
    for (const number of this.#shown.keys()) if (!this.turn(number)) this.#shown.delete(number);
    prepare(this.node);
    this.#changed(null);
    if (this.detached) return;
    for (const number of this.#unseen) if (!this.turn(number)) this.refresh(number);
    this.#unseen.clear();
  }

  append(delta) {
    const job = this.#jobs.get(delta.turn);
    const fits = this.#write(delta);
    if (job) job.held.push(delta);
    else if (!fits) this.refresh(delta.turn);
  }

  refresh(number) {
    if (this.#isBeyond(Number(number))) return;
    const job = this.#jobs.get(number);
    if (job) {
      job.again = true;
      return;
    }
    const fresh = { again: true, held: [] };
    this.#jobs.set(number, fresh);
    this.#read(number, fresh);
  }

  // Between the turns on the page and this one are others, which have not been read.
  #isBeyond(number) {
    if (this.turn(number)) return false;
    const [first, last] = this.#ends();
    if (this.detached && number > last) this.#unseen.add(number);
    return (this.detached && number > last) || (this.node.querySelector("#earlier:not([hidden])") && number < first);
  }

  #ends() {
    const numbers = Array.from(this.node.querySelectorAll(".turn"), (article) => Number(article.dataset.turn));
    return [numbers.at(0) ?? 0, numbers.at(-1) ?? 0];
  }

  async #read(number, job) {
    while (job.again) {
      // What was held until now is older than the answer to come, and so part of it.
      job.again = false;
      job.held = [];
      const answer = await part(`${this.#base}turns/${number}/`);
      if (answer.ok) await editorCame(this.turn(number));
      if (answer.ok && !job.again) this.#show(number, parse(answer.data).querySelector(".turn"));
      if (answer.ok && job.held.some((delta) => !this.#write(delta))) job.again = true;
      if (!answer.ok && answer.status !== 404 && answer.status !== 401) {
        job.again = true;
        await new Promise((done) => setTimeout(done, RETRY_AFTER));
      }
    }
    this.#jobs.delete(number);
  }

  // A finished turn that reads as before is left alone: what the reader does in it, such as copying, is not undone.
  #show(number, fresh) {
    if (!fresh) return;
    const before = this.#shown.get(number);
    this.#remember(fresh);
    if (before !== this.#shown.get(number) || this.turn(number)?.dataset.state !== "completed") this.#swap(number, fresh);
  }

  #remember(node) {
    for (const article of node.matches(".turn") ? [node] : node.querySelectorAll(".turn")) {
      this.#shown.set(Number(article.dataset.turn), article.outerHTML.replace(TOKEN, ""));
    }
  }

  // True where the text is on the page now, or was already.
  #write({ kind, turn, run, call, offset, text }) {
    const article = this.turn(turn);
    if (!article || article.dataset.run !== run) return false;
    if (article.dataset.state !== "running") return article.dataset.state !== "queued";
    const here = Number(article.dataset.call);
    if (call !== here) return call < here;
    const counted = kind === "thinking" ? "thought" : "length";
    const length = Number(article.dataset[counted]);
    if (offset > length) return false;
    const points = Array.from(text);
    const fresh = points.slice(length - offset).join("");
    if (!fresh) return true;
    article.dataset[counted] = offset + points.length;
    if (kind === "thinking") {
      think(article, fresh);
      return true;
    }
    if (article.dataset.phase === "preparing") article.dataset.phase = "writing";
    this.#paintSoon(article, fresh);
    return true;
  }

  #paintSoon(article, text) {
    if (this.#unpainted.size === 0) {
      // A hidden tab gets no animation frames
      if (document.hidden) setTimeout(() => this.#paint());
      else requestAnimationFrame(() => this.#paint());
    }
    this.#unpainted.set(article, (this.#unpainted.get(article) ?? "") + text);
  }

  #paint() {
    for (const [article, text] of this.#unpainted) {
      const live = Live.of(article);
      if (live.write(text)) this.#finish(article, live);
    }
    this.#unpainted.clear();
  }

  // What is finished comes as the server renders it in the end; each block is asked for and shown once.
  async #finish(article, live) {
    if (live.asking) return;
    live.asking = true;
    live.again = false;
    const { turn, call } = article.dataset;
    const answer = await data(`${this.#base}turns/${turn}/blocks/?call=${call}&from=${live.from}`);
    live.asking = false;
    if (answer.ok) live.finish(answer.data);
    // A line that came meanwhile may have ended another.
    if (answer.ok && live.again && article.isConnected) this.#finish(article, live);
  }

  #swap(number, fresh) {
    const old = this.turn(number);
    this.#settleIn(old, fresh);
    if (old) replace(old, fresh);
    else this.#insert(Number(number), fresh);
    this.#arrived(fresh);
  }

  // Text that came while the answer was on its way stays: what has been seen is never taken back.
  #settleIn(old, fresh) {
    this.#paint();
    if (fresh.dataset.state === "running" && this.#stopping.has(fresh.dataset.run)) fresh.dataset.phase = "stopping";
    if (!old) return;
    const same = old.dataset.run === fresh.dataset.run && old.dataset.call === fresh.dataset.call;
    const ahead = Number(old.dataset.length) > Number(fresh.dataset.length);
    if (same && ahead && fresh.dataset.state === "running") {
      fresh.querySelector(".live").replaceWith(old.querySelector(".live"));
      fresh.dataset.length = old.dataset.length;
      fresh.dataset.phase = old.dataset.phase;
    }
    keepEditor(old, fresh);
    keepTicks(old, fresh);
    for (const open of old.querySelectorAll("details[open][id]")) {
      const twin = fresh.querySelector(`#${CSS.escape(open.id)}`);
      if (twin) twin.open = true;
    }
  }

  #insert(number, fresh) {
    const next = [...this.node.querySelectorAll(".turn")].find((article) => Number(article.dataset.turn) > number);
    this.node.insertBefore(fresh, next ?? null);
  }

  #arrived(node) {
    prepare(node);
    window.htmx.process(node);
    this.#changed(node);
  }
}

function prepare(node) {
  enhance(node);
  for (const article of node.matches(".turn") ? [node] : node.querySelectorAll(".turn")) Live.of(article)?.write("");
}

function think(article, text) {
  article.querySelector(".thinking").hidden = false;
  article.querySelector(".thought").append(text);
}

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// An editor that was asked for is waited for: in a turn that is replaced meanwhile it would find no place.
async function editorCame(node) {
  while (node?.querySelector("[data-edit].htmx-request")) {
    await new Promise((done) => node.addEventListener("htmx:afterRequest", done, { once: true }));
  }
}

// What is being written in place goes on being written.
function keepEditor(old, fresh) {
  const editor = old.querySelector(".edit");
  const said = fresh.querySelector(".said");
  if (editor && said) moved(editor, () => said.after(editor));
}

// What somebody has unticked of a proposed edit would be written if it came ticked again.
function keepTicks(old, fresh) {
  for (const proposal of old.querySelectorAll(".proposal:has([name=hunk]:not(:checked))")) {
    const form = proposal.querySelector("form");
    const asked = fresh.querySelector(`[hx-get="${form.getAttribute("action")}"]`);
    if (asked) moved(proposal, () => asked.replaceWith(proposal));
  }
}

// To where it goes on, with the focus that it has.
function moved(node, move) {
  const focused = node.contains(document.activeElement) && document.activeElement;
  move();
  if (focused) queueMicrotask(() => focused.focus({ preventScroll: true }));
}

// What has the focus keeps it, in one turn that is read again as in the whole log.
function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const article = focused?.closest(".turn")?.id;
  const part = [".msg.user", ".msg.reply"].find((name) => focused?.closest(name));
  old.replaceWith(fresh);
  if (!focused) return;
  const turn = article && document.getElementById(article);
  const twin = (focused.id && document.getElementById(focused.id)) || (part && turn?.querySelector(part)) || turn || fresh;
  twin.focus({ preventScroll: true });
}
