// Where messages are written: drafts, keys, the price while typing, Send and Stop.

import { Commands } from "./commands.js";
import { fit } from "./field.js";
import { bind, enterSends } from "./keys.js";
import { icon } from "./status.js";
import * as store from "./store.js";
import { worded } from "./words.js";

const DRAFT_AFTER = 250;
const FIELD = "#composer textarea";

export class Composer {
  #form = document.getElementById("composer");
  #field = document.querySelector(FIELD);
  #send = document.getElementById("send");
  #stop = document.getElementById("stop");
  #price = document.getElementById("price");
  #fit = document.getElementById("fit");
  #hint = document.getElementById("hint");
  #asked = document.getElementById("asked");
  #aside = document.querySelector("#alone input");
  #commands = new Commands(this.#field);
  #plainHint = this.#hint.innerHTML;
  #draftKey;
  // What was written in another tab is not this one's to forget.
  #own;
  #on;
  #draftTimer = null;
  #running = false;
  #reading = false;
  #closed = false;

  // on: {send(text, {cut, aside, plain}), stop(), typed(), names() -> of the files that would go with it}
  constructor(place, on) {
    this.#draftKey = `ccm.draft.${place}`;
    this.#on = on;
    this.#own = this.#field.value !== "";
    this.#field.value ||= store.read(this.#draftKey) ?? "";
    this.#listen();
    this.#bindKeys();
    fit(this.#field);
    this.#show();
  }

  focus() {
    this.#field.focus();
  }

  set running(value) {
    this.#running = value;
    this.#show();
  }

  // While a file is being read nothing is sent: it would go without the file.
  set reading(value) {
    this.#reading = value;
    this.#show();
  }

  // Gives a text back to the person; what is already typed stays after it.
  putBack(text) {
    this.#field.value = this.#field.value ? `${text}\n\n${this.#field.value}` : text;
    this.#typed();
    this.keepDraft();
    this.focus();
  }

  // Why what looks like a command was not done; the person can have it sent all the same.
  ask(text, { aside = false } = {}) {
    this.#aside.checked ||= aside;
    const box = document.createElement("div");
    box.className = "notice warn";
    const words = document.createElement("div");
    words.className = "stack";
    const question = document.createElement("p");
    question.textContent = text;
    const plain = document.createElement("button");
    plain.type = "button";
    plain.className = "button small";
    plain.append(icon("send"), worded("Send as a message"));
    plain.addEventListener("click", () => this.#submit({ plain: true }));
    const answer = document.createElement("p");
    answer.append(plain);
    words.append(question, answer);
    box.append(icon("alert"), words);
    this.#asked.replaceChildren(box);
  }

  // Nothing can be sent from here any more; of a deleted conversation nothing is kept either.
  close({ keep }) {
    if (keep) this.keepDraft();
    else store.forget(this.#draftKey);
    this.#closed = true;
    this.#running = false;
    this.#show();
  }

  // It is there again: what was being written goes on.
  reopen() {
    this.#closed = false;
    this.#own = true;
    this.keepDraft();
  }

  clear() {
    this.#field.value = "";
    this.#typed();
  }

  keepDraft() {
    clearTimeout(this.#draftTimer);
    if (this.#closed || !this.#own) return;
    this.#own = this.#field.value !== "";
    if (this.#own) store.write(this.#draftKey, this.#field.value);
    else store.forget(this.#draftKey);
  }

  #listen() {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit({ cut: event.submitter?.name === "cut", plain: event.submitter?.name === "plain" });
    });
    this.#field.addEventListener("input", () => this.#typed());
    this.#stop.addEventListener("click", () => this.#on.stop());
    window.addEventListener("pagehide", () => this.keepDraft());
    document.addEventListener("visibilitychange", () => document.hidden && this.keepDraft());
  }

  #bindKeys() {
    bind("Composer", "Enter", "Send; on touch a new line", () => enterSends() && this.#submit(), FIELD);
    bind("Composer", "Shift+Enter", "New line");
    bind("Composer", "Mod+Enter", "Send", () => this.#submit(), FIELD);
    bind("Composer", "Escape", "Stop the reply, or leave the field", () => this.#leave(), FIELD);
    bind("Outside text fields", "c", "Write", () => this.focus());
  }

  #leave() {
    if (this.#running) this.#on.stop();
    else document.getElementById("scroller").focus();
  }

  #submit({ cut = false, plain = false } = {}) {
    const text = this.#text;
    if (this.#closed || this.#reading || !text.trim()) return;
    this.#on.send(text, { cut, plain, aside: this.#aside.checked });
    this.#aside.checked = false;
    this.clear();
    this.keepDraft();
  }

  // Files without words are called by their names.
  get #text() {
    return this.#field.value.trim() ? this.#field.value : this.#on.names().join(", ");
  }

  #typed() {
    this.#own = true;
    clearTimeout(this.#draftTimer);
    this.#draftTimer = setTimeout(() => this.keepDraft(), DRAFT_AFTER);
    fit(this.#field);
    this.#asked.replaceChildren();
    this.#commands.show();
    this.#show();
    // What was written is gone at once; what is being written is priced when the person pauses.
    if (!this.#field.value.trim()) for (const node of [this.#price, this.#fit]) node.replaceChildren();
    this.#on.typed();
  }

  #show() {
    const empty = !this.#text.trim();
    const pressed = [this.#stop, this.#send].find((button) => button === document.activeElement);
    this.#stop.hidden = !this.#running;
    this.#send.hidden = this.#running && empty;
    this.#send.disabled = empty || this.#closed || this.#reading;
    this.#send.querySelector("span").textContent = worded(this.#running ? "Send next" : "Send");
    const words = this.#running && !empty ? worded("Waits until this turn ends.") : this.#plainHint;
    if (this.#hint.innerHTML !== words) this.#hint.innerHTML = words;
    // What is hidden or disabled keeps no focus. On touch the field would open the keyboard.
    if (pressed?.hidden || pressed?.disabled) (enterSends() ? this.#field : document.getElementById("scroller")).focus();
  }
}
