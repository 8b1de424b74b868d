// Messages on their way: kept by this browser until the server has them, sent one after the other, each once.

import * as store from "./store.js";

const RESEND_AFTER = 15_000;
const LARGEST_FRAME = 60_000;

export class Outbox {
  #prefix;
  #branch;
  #carry;
  #changed;
  #flying = null;
  #timer = null;
  #last = 0;

  // carry: {ready() -> bool, frame({kind, branch, client_id, text, cut, aside, plain}) -> bool, post(the same)}
  constructor(place, branch, carry, changed) {
    this.#prefix = `ccm.outbox.${place}.`;
    this.#branch = branch;
    this.#carry = carry;
    this.#changed = changed;
  }

  items() {
    return store.keys(this.#prefix).map((key) => JSON.parse(store.read(key)));
  }

  add(text, how = {}) {
    // The time comes first in the key, so that the keys sort in the order of sending.
    this.#last = Math.max(Date.now(), this.#last + 1);
    const item = { at: this.#last, client_id: newId(), text, ...how };
    store.write(this.#key(item), JSON.stringify(item));
    this.#changed();
    this.pump();
  }

  has(clientId) {
    return this.#find(clientId) !== undefined;
  }

  isFlying(clientId) {
    return this.#flying === clientId;
  }

  // The server has it, has refused it, or the person took it back.
  settle(clientId) {
    const item = this.#find(clientId);
    if (item) store.forget(this.#key(item));
    if (this.#flying === clientId) this.ground();
    if (item) this.#changed();
    this.pump();
    return item;
  }

  // The connection is gone: what was in the air is sent again later, under the same id.
  ground() {
    this.#flying = null;
    clearTimeout(this.#timer);
  }

  pump() {
    if (this.#flying !== null || !this.#carry.ready()) return;
    const [item] = this.items();
    if (!item) return;
    this.#flying = item.client_id;
    this.#timer = setTimeout(() => {
      this.ground();
      this.pump();
    }, RESEND_AFTER);
    const { at, ...message } = item;
    this.#send(message);
    this.#changed();
  }

  #send(message) {
    const frame = { kind: "send", branch: this.#branch, ...message };
    const bytes = new TextEncoder().encode(JSON.stringify(frame)).length;
    if (bytes > LARGEST_FRAME) this.#carry.post(message);
    else if (!this.#carry.frame(frame)) this.ground();
  }

  #find(clientId) {
    return this.items().find((item) => item.client_id === clientId);
  }

  #key(item) {
    return `${this.#prefix}${String(item.at).padStart(15, "0")}.${item.client_id}`;
  }
}

export function newId() {
  // randomUUID is missing where the page does not come over https or from this computer
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
