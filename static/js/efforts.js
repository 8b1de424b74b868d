// Efforts on the chat page: what happened to them is said, shown where it belongs, and what was waved away stays away.

import { say } from "./status.js";
import * as store from "./store.js";

const PANEL_AFTER = 150;
const HIDDEN = "ccm.notnow.";

export class Efforts {
  #on;
  #key;
  #timer = null;
  #flash = false;
  #active = this.#destination?.dataset.active;
  #acted = "";
  #hidden;

  // on: {refresh(turn number), reload(), context()}
  constructor(session, on) {
    this.#on = on;
    this.#key = `${HIDDEN}${session}`;
    this.#hidden = new Set(store.readHere(this.#key));
    document.body.addEventListener("htmx:oobAfterSwap", (event) => event.detail.target.id === "destination" && this.#redirected());
    document.body.addEventListener("htmx:afterSettle", (event) => event.detail.target.id === "effort-list" && this.#settled());
    document.addEventListener("click", (event) => this.#clicked(event.target));
  }

  get #destination() {
    return document.getElementById("destinations-row");
  }

  happened(event) {
    if (event.notice) say(words(event.notice));
    if (event.via === "model") this.#flash = true;
    if (event.turn === 0) this.#on.reload();
    for (const turn of this.#turnsAbout(event)) this.#on.refresh(turn);
    this.refresh();
    this.#on.context();
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
  #turnsAbout({ turn, effort, moved, of }) {
    const notices = [...document.querySelectorAll(".note[data-about]")].filter((note) => note.dataset.about === effort || note.id === `notice-${of}`);
    const turns = notices.map((note) => Number(note.closest(".turn")?.dataset.turn ?? 0));
    if (turns.includes(0) && turn !== 0) this.#on.reload();
    return new Set([turn, moved, ...turns].filter((number) => number > 0));
  }

  #redirected() {
    const { active } = this.#destination.dataset;
    if (this.#flash && active !== this.#active) this.#destination.classList.add("flash");
    this.#flash = false;
    this.#active = active;
  }

  #settled() {
    // Rows that stayed open were opened before anything listened for it: they ask for their price now.
    for (const open of document.querySelectorAll(".effort[open][hx-get]")) window.htmx.trigger(open, "toggle");
    this.#keepFocus();
  }

  // The button that was pressed may be gone; its effort's row has moved, not vanished.
  #keepFocus() {
    const row = this.#acted && document.getElementById(`effort-${this.#acted}-row`);
    this.#acted = "";
    if (row && document.activeElement === document.body) row.focus();
  }

  #clicked(target) {
    const offer = target.closest("[data-not-now]");
    if (offer) this.#hide(offer.dataset.notNow);
    const dismissed = target.closest("[data-dismiss]");
    if (dismissed) document.getElementById(dismissed.dataset.dismiss)?.remove();
    const menu = document.querySelector("#destinations[open]");
    if (menu && target.closest("#destinations a")) menu.open = false;
  }

  #hide(seq) {
    this.#hidden.add(seq);
    store.writeHere(this.#key, [...this.#hidden]);
    this.arrived(document);
  }
}

function words(notice) {
  return notice.replace(/^--- | ---$/gm, "").replace("\n", ". ");
}
