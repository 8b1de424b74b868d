// Messages that this browser holds and the server does not have yet, shown under the log.

import { icon } from "./status.js";
import { worded } from "./words.js";

const WORDS = { live: "Sending", closed: "Not sent" };

export class Pending {
  #node = document.getElementById("pending");
  #takeBack;

  constructor(takeBack) {
    this.#takeBack = takeBack;
  }

  // Bubbles whose message was sent stay until their turn is on the page, so that nothing blinks; after the end none comes.
  show(items, { state, flying }) {
    const wanted = new Set(items.map((item) => item.client_id));
    for (const bubble of [...this.#node.children]) {
      if (!wanted.has(bubble.dataset.client) && (!bubble.dataset.turn || state === "closed")) bubble.remove();
    }
    for (const item of items) {
      const bubble = this.#bubble(item.client_id) ?? this.#add(item);
      const words = worded(WORDS[state] ?? "Waiting for connection");
      bubble.querySelector(".state").replaceChildren(icon("wait"), words);
      bubble.querySelector("button").hidden = flying(item.client_id);
    }
  }

  sent(clientId, turn) {
    const bubble = this.#bubble(clientId);
    if (bubble) bubble.dataset.turn = turn;
  }

  arrived(isThere) {
    for (const bubble of [...this.#node.children]) {
      if (bubble.dataset.turn && isThere(bubble.dataset.turn)) bubble.remove();
    }
  }

  get node() {
    return this.#node;
  }

  #bubble(clientId) {
    return [...this.#node.children].find((bubble) => bubble.dataset.client === clientId);
  }

  #add({ client_id: clientId, text }) {
    const bubble = document.createElement("div");
    bubble.className = "msg user pending";
    bubble.dataset.client = clientId;
    const who = document.createElement("div");
    who.className = "who";
    const name = document.createElement("b");
    name.textContent = worded("You");
    const state = document.createElement("span");
    state.className = "state";
    const back = document.createElement("button");
    back.type = "button";
    back.className = "button ghost small push";
    back.textContent = worded("Cancel");
    back.addEventListener("click", () => this.#takeBack(clientId));
    who.append(name, state, back);
    const said = document.createElement("div");
    said.className = "said";
    said.dir = "auto";
    said.textContent = text;
    bubble.append(who, said);
    this.#node.append(bubble);
    return bubble;
  }
}
