// Efforts on the chat page: what happened to them is said, shown where it belongs, and what was waved away stays away.

import { showTab } from "./app.js";
import { arriveAt } from "./arrive.js";
import { showFound } from "./found.js";
import { say, tell } from "./status.js";
import * as store from "./store.js";
import { worded } from "./words.js";

const PANEL_AFTER = 150;
// What is said of events that have no notice.
const WORDS = {
  "effort.offered": ({ effort }) => `Conclude ${effort}? The answer is below the turn.`,
  "effort.drafting": ({ effort, step }) => STEPS[step] && `${STEPS[step]} ${effort}`,
  "effort.digested": ({ effort }) => `${effort} is shown as excerpts, not a summary. The notice of its conclusion in the chat says why.`,
  "effort.summary_waiting": ({ effort }) => `The summary of ${effort} needs your approval.`,
  "effort.kept_whole": ({ effort }) => `${effort} is short: its log stays in the prompt.`,
  "effort.summary_failed": ({ effort }) => `There is no summary of ${effort}. Its notice says why.`,
  "effort.undone": ({ effort, undone }) => undone === "effort.concluded" ? `Taken back: ${effort} is open again.` : `Taken back: ${effort} is as it was before.`,
  "effort.rolled_back": ({ effort, digest }) => digest ? `Rolled back: the excerpts of ${effort}` : `Rolled back: the summary of ${effort}`,
  "effort.accepted_again": ({ effort, digest }) => digest ? `In use again: the excerpts of ${effort}` : `In use again: the summary of ${effort}`,
  "compaction.requested": (event) => `Being summarised: ${span(event)}`,
  "compaction.drafted": (event) => event.passed ? (event.digest ? `Excerpts of ${span(event)} wait for you.` : `A summary of ${span(event)} waits for you.`) : `There is no summary of ${span(event)} that can be used. See its notice.`,
  "compaction.failed": (event) => `There is no summary of ${span(event)}. See its notice.`,
  "compaction.stopped": (event) => `Stopped: the summary of ${span(event)}`,
  "compaction.accepted": (event) => event.digest ? `In the prompt as excerpts: ${span(event)}` : `In the prompt as a summary: ${span(event)}`,
  "compaction.rolled_back": (event) => event.digest ? `Rolled back: the excerpts of ${span(event)}` : `Rolled back: the summary of ${span(event)}`,
  "compaction.invalidated": (event) => event.digest ? `The excerpts of ${span(event)} are not used any more` : `The summary of ${span(event)} is not used any more`,
  "compaction.expanded": (event) => `Expanded: ${named(event)}`,
  "compaction.collapsed": (event) => `Collapsed: ${named(event)} (back to summary)`,
  "compaction.decayed": (event) => `Auto-collapsed: ${named(event)} (inactive for ${event.turns} turns)`,
  "compaction.undone": () => "Taken back",
  "ledger.proposed": () => "Something to keep? The question is below the turn.",
  "ledger.done_suggested": ({ text }) => `Done? ${text}. The question is below the turn.`,
  "ledger.confirmed": ({ text }) => `Kept: ${text}`,
  "ledger.done": ({ text }) => `Done: ${text}`,
  "ledger.dismissed": ({ text }) => `Dismissed: ${text}`,
  "hold.suggested": ({ what }) => `Suggested pin: ${what}. See the context panel.`,
  "hold.granted": ({ what, until }) => `Pinned ${what} ${until}`,
  "hold.ended": ({ what }) => `Unpinned ${what}`,
  "turn.left_out": ({ left }) => `Turn ${left} is left out of prompts`,
  "turn.put_back": ({ left }) => `Turn ${left} is back in prompts`,
  "turn.moved": ({ moved, target }) => target ? `Turn ${moved} moved to ${target}` : `Turn ${moved} moved to no effort`,
};
// What is being done for a summary, as far as it is worth saying.
const STEPS = {
  exam: "The model that checks takes its exam before it reads the summary of",
  check: "Checking the draft against the log of",
  repair: "The draft is mended for",
};
// Of what was asked for before: whoever has gone on reading elsewhere is told.
const COMES_OF_IT = new Set([
  "effort.digested", "effort.summary_waiting", "effort.summary_failed", "compaction.drafted", "compaction.failed",
]);
// Of several efforts one box tells it, and counts them.
const SEVERAL = {
  "effort.digested": (count) => `${count} efforts are shown as excerpts, not summaries. The notices of their conclusions in the chat say why.`,
  "effort.summary_waiting": (count) => `The summaries of ${count} efforts need your approval.`,
  "effort.summary_failed": (count) => `There are no summaries of ${count} efforts. Their notices say why.`,
};
// After these other turns are in the prompt by their text, or by a summary: each says so.
const COVERING = new Set([
  "compaction.accepted", "compaction.rolled_back", "compaction.invalidated", "compaction.shortened", "compaction.evicted",
  "compaction.expanded", "compaction.collapsed", "compaction.decayed", "compaction.undone", "effort.rolled_back",
]);
// With these the last switch is another one, and only the last can be taken back.
const REDIRECTS = new Set(["effort.opened", "effort.concluded", "effort.reopened", "effort.switched", "effort.undone"]);
const HIDDEN = "ccm.notnow.";

export class Efforts {
  #on;
  #key;
  #timer = null;
  #active = this.#destination?.dataset.active;
  #acted = "";
  #hidden;
  // What is told now, and of which efforts.
  #told = { kind: "", efforts: new Set() };

  // on: {refresh(turn number), reload(), context()}
  constructor(session, on) {
    this.#on = on;
    this.#key = `${HIDDEN}${session}`;
    this.#hidden = new Set(store.readHere(this.#key));
    document.body.addEventListener("htmx:oobAfterSwap", (event) => event.detail.target.id === "destination" && this.#redirected());
    document.body.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
      if (target.id === "effort-list") this.#settled();
      // What an effort costs comes when it is opened, and makes it larger.
      else if (target.matches(".effort[open]:focus-within .price")) bringIntoView(target.closest(".effort"));
    });
    document.addEventListener("click", (event) => this.#clicked(event));
  }

  get #destination() {
    return document.getElementById("destinations-row");
  }

  happened(event) {
    // Efforts as people call them, for their ids.
    const called = { ...event, ...event.names };
    const words = event.told ?? WORDS[event.kind]?.(called);
    const then = event.was_active && event.next ? `${called.next} is active again` : "";
    const told = words && COMES_OF_IT.has(event.kind) && this.#tellAway(words, event);
    if (words && !told) say(then ? `${worded(words)}. ${worded(then)}` : words);
    if (event.turn === 0 || COVERING.has(event.kind)) this.#on.reload();
    for (const turn of this.#turnsAbout(event)) this.#on.refresh(turn);
    this.refresh();
    this.#on.context();
  }

  // False where the notice of it is in sight, and says it itself.
  #tellAway(words, { kind, turn, effort }) {
    const last = () => [...document.querySelectorAll(`.note[data-about="${CSS.escape(effort)}"]`)].at(-1);
    if (isInSight(last())) return false;
    const follow = (event) => {
      const note = last();
      if (!note) return;
      event.preventDefault();
      note.scrollIntoView({ block: "center" });
      (note.querySelector("a, button") ?? note).focus({ preventScroll: true });
    };
    if (kind !== this.#told.kind || !this.#told.box.isConnected) this.#told = { kind, efforts: new Set() };
    const { size } = this.#told.efforts.add(effort);
    this.#told.box = tell(size > 1 && SEVERAL[kind] ? SEVERAL[kind](size) : words, { href: `${document.getElementById("shell").dataset.chat}#turn-${turn}`, label: "Show", follow });
    return true;
  }

  // The panel and the composer's destination, read again together.
  refresh() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => document.body.dispatchEvent(new Event("efforts")), PANEL_AFTER);
  }

  acted(slug) {
    this.#acted = slug ?? "";
  }

  // Offers that were answered with "Not now" in this tab.
  arrived(node) {
    for (const offer of node.querySelectorAll("[data-offer]")) offer.hidden = this.#hidden.has(offer.dataset.offer);
  }

  // A later event can change what an earlier notice offers, and in which turn it stands.
  #turnsAbout({ kind, turn, effort, moved, of }) {
    const notices = [...document.querySelectorAll(".note[data-about]")].filter((note) => note.dataset.about === effort || note.id === `notice-${of}`);
    if (REDIRECTS.has(kind)) notices.push(...[...document.querySelectorAll(".note[data-switched]")].slice(-2));
    const turns = notices.map((note) => Number(note.closest(".turn")?.dataset.turn ?? 0));
    if (turns.includes(0) && turn !== 0) this.#on.reload();
    return new Set([turn, moved, ...turns].filter((number) => number > 0));
  }

  #redirected() {
    const { active } = this.#destination.dataset;
    if (active === this.#active) return;
    this.#active = active;
    // On what stays when the menu in it is read again.
    const { classList } = document.getElementById("destination");
    classList.remove("flash");
    requestAnimationFrame(() => classList.add("flash"));
  }

  #settled() {
    document.getElementById("shell").dataset.efforts = this.#list.querySelector("[data-total]")?.dataset.total ?? "";
    // Rows that stayed open were opened before anything listened for it: they ask for their price now.
    for (const open of document.querySelectorAll("#effort-list details[open][hx-get]")) window.htmx.trigger(open, "toggle");
    this.#keepFocus();
  }

  // The button that was pressed may be gone; its effort's row has moved, not vanished.
  #keepFocus() {
    const row = this.#acted && document.getElementById(`effort-${this.#acted}-row`);
    this.#acted = "";
    if (!row) return;
    bringIntoView(row.parentElement);
    if (document.activeElement === document.body) row.focus({ preventScroll: true });
  }

  focus() {
    if (this.#list.offsetParent === null) showTab("efforts");
    this.#list.querySelector("summary, a")?.focus();
  }

  get #list() {
    return document.getElementById("effort-list");
  }

  #clicked(event) {
    const { target } = event;
    const row = target.closest(".effort > summary");
    if (row) row.parentElement.addEventListener("toggle", ({ target: effort }) => effort.open && bringIntoView(effort), { once: true });
    const link = target.closest("[data-turn-link], .cite, .place");
    if (link) this.#goTo(event, new URL(link.href), link.dataset.found);
    const offer = target.closest("[data-not-now]");
    if (offer) this.#hide(offer.dataset.notNow);
    const dismissed = target.closest("[data-dismiss]");
    if (dismissed) document.getElementById(dismissed.dataset.dismiss)?.remove();
    const menu = document.querySelector("#destinations[open]");
    if (menu && target.closest("#destinations a")) menu.open = false;
  }

  // A turn of another branch, or one that is not on the page, is reached by the link's address.
  #goTo(event, { pathname, hash }, found) {
    const { chat } = document.getElementById("shell").dataset;
    const turn = [chat, `${chat}log/`].includes(pathname) && hash.startsWith("#turn-") && document.getElementById(hash.slice(1));
    if (!turn) return;
    event.preventDefault();
    arriveAt(turn);
    if (found) showFound(found);
  }

  // Of the concluded ones the panel lists the newest: another is found by its id.
  find(id) {
    const field = document.getElementById("effort-query");
    field.value = id.replace(/^effort-|-row$/g, "");
    this.#list.addEventListener("htmx:afterSettle", () => {
      const row = document.getElementById(id);
      if (row) arriveAt(row);
    }, { once: true });
    window.htmx.trigger(field, "search");
  }

  #hide(seq) {
    this.#hidden.add(seq);
    store.writeHere(this.#key, [...this.#hidden]);
    this.arrived(document);
  }
}

// As far as it fits: its name at least.
function bringIntoView(effort) {
  effort.scrollIntoView({ block: "nearest" });
}

function isInSight(note) {
  if (!note) return false;
  const { top, bottom } = note.getBoundingClientRect();
  const box = document.getElementById("scroller").getBoundingClientRect();
  return top < box.bottom && bottom > box.top;
}

const STARTED_FROM = "what this conversation starts from";

function span({ first, last }) {
  if (!first) return STARTED_FROM;
  return first === last ? `turn ${first}` : `turns ${first}-${last}`;
}

function named({ id }) {
  const [, first, last] = id.split("-").map(Number);
  return span({ first, last });
}
