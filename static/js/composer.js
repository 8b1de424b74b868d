// Where messages are written: drafts, keys, the price while typing, Send and Stop.

import { fit } from "./field.js";
import { post } from "./http.js";
import { bind } from "./keys.js";
import * as store from "./store.js";

const DRAFT_AFTER = 250;
const PRICE_AFTER = 400;
const FIELD = "#composer textarea";

export class Composer {
  #form = document.getElementById("composer");
  #field = document.querySelector(FIELD);
  #send = document.getElementById("send");
  #stop = document.getElementById("stop");
  #price = document.getElementById("price");
  #hint = document.getElementById("hint");
  #plainHint = this.#hint.innerHTML;
  #draftKey;
  #on;
  #draftTimer = null;
  #priceTimer = null;
  #asking = null;
  #running = false;
  #closed = false;

  // on: {send(text), stop()}
  constructor(place, on) {
    this.#draftKey = `ccm.draft.${place}`;
    this.#on = on;
    this.#field.value ||= store.read(this.#draftKey) ?? "";
    this.#listen();
    this.#bindKeys();
    this.#typed();
  }

  focus() {
    this.#field.focus();
  }

  set running(value) {
    this.#running = value;
    this.#show();
  }

  // Gives a text back to the person; what is already typed stays after it.
  putBack(text) {
    this.#field.value = this.#field.value ? `${text}\n\n${this.#field.value}` : text;
    this.#typed();
    this.keepDraft();
    this.focus();
  }

  // Nothing can be sent from here any more; of a deleted conversation nothing is kept either.
  close({ keep }) {
    if (keep) this.keepDraft();
    else store.forget(this.#draftKey);
    this.#closed = true;
    this.#running = false;
    this.#show();
  }

  clear() {
    this.#field.value = "";
    this.#typed();
  }

  keepDraft() {
    clearTimeout(this.#draftTimer);
    if (this.#closed) return;
    if (this.#field.value) store.write(this.#draftKey, this.#field.value);
    else store.forget(this.#draftKey);
  }

  #listen() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#field.addEventListener("input", () => this.#typed());
    this.#stop.addEventListener("click", () => this.#on.stop());
    window.addEventListener("pagehide", () => this.keepDraft());
    document.addEventListener("visibilitychange", () => document.hidden && this.keepDraft());
  }

  #bindKeys() {
    const fine = window.matchMedia("(pointer: fine)");
    bind("Composer", "Enter", "Send; on touch a new line", () => fine.matches && this.#submit(), FIELD);
    bind("Composer", "Shift+Enter", "New line");
    bind("Composer", "Mod+Enter", "Send", () => this.#submit(), FIELD);
    bind("Composer", "Escape", "Stop the reply, or leave the field", () => this.#leave(), FIELD);
    bind("Outside text fields", "c", "Write", () => this.focus());
  }

  #leave() {
    if (this.#running) this.#on.stop();
    else document.getElementById("scroller").focus();
  }

  #submit() {
    const text = this.#field.value;
    if (this.#closed || !text.trim()) return;
    this.#on.send(text);
    this.clear();
    this.keepDraft();
  }

  #typed() {
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.keepDraft(), DRAFT_AFTER);
    fit(this.#field);
    this.#show();
    this.#askPrice();
  }

  #show() {
    const empty = !this.#field.value.trim();
    this.#stop.hidden = !this.#running;
    this.#send.hidden = this.#running && empty;
    this.#send.disabled = empty || this.#closed;
    this.#send.querySelector("span").textContent = this.#running ? "Send next" : "Send";
    const words = this.#running && !empty ? "Waits until this turn ends." : this.#plainHint;
    if (this.#hint.innerHTML !== words) this.#hint.innerHTML = words;
  }

  #askPrice() {
    clearTimeout(this.#priceTimer);
    this.#asking?.abort();
    if (!this.#field.value.trim()) {
      this.#price.textContent = "";
      return;
    }
    this.#priceTimer = setTimeout(() => this.#fetchPrice(), PRICE_AFTER);
  }

  async #fetchPrice() {
    this.#asking = new AbortController();
    const { ok, data } = await post(this.#form.dataset.price, { text: this.#field.value }, this.#asking);
    if (!ok || !this.#field.value.trim()) return;
    const tokens = `~${data.tokens.toLocaleString("en")} tokens`;
    const over = (data.total - data.budget).toLocaleString("en");
    this.#price.textContent = data.fits ? tokens : `${tokens}, ${over} over the budget`;
    this.#price.classList.toggle("bad", !data.fits);
  }
}
