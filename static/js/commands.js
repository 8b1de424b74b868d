// The list of commands while one is typed: arrow keys choose, Enter or Tab completes, Escape closes.

import { data } from "./http.js";
import { describe } from "./keys.js";

const NAME = /^\/([\p{L}\p{N}_-]*)$/u;
const ID = /^\/(\p{L}+)\s+(\S*)$/u;
const MOVES = { ArrowDown: 1, ArrowUp: -1 };
// A text field becomes a combobox only while it has a list: closed, it is a text field like any other.
const OPEN = { role: "combobox", "aria-expanded": "true", "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": "commands" };

export class Commands {
  #field;
  #list = document.getElementById("commands");
  #commands = [...this.#list.children];
  #at = -1;

  constructor(field) {
    this.#field = field;
    describe("Commands, in the field", this.#commands.filter(({ dataset }) => !dataset.prompt).map(({ dataset, children }) => [`/${dataset.name} ${dataset.argument}`, children[1].textContent]));
    field.addEventListener("keydown", (event) => this.#pressed(event));
    field.addEventListener("focus", () => this.show());
    field.addEventListener("blur", () => this.#close());
    // The field keeps the focus when an option is pressed.
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => this.#choose(event.target.closest("[role=option]")));
  }

  // What could be meant by what is typed; nothing where it is a message, or complete.
  show() {
    const text = this.#field.value;
    const name = NAME.exec(text)?.[1].toLowerCase();
    const options = name === undefined ? this.#ids(text) : this.#commands.filter(({ dataset }) => dataset.name.startsWith(name));
    if (!options.length || document.activeElement !== this.#field) return this.#close();
    this.#list.replaceChildren(...options);
    this.#list.hidden = false;
    for (const [key, value] of Object.entries(OPEN)) this.#field.setAttribute(key, value);
    // What can be sent as it is is not completed by Enter.
    const whole = name === undefined ? /\s$/.test(text) && !this.#named(text).hasAttribute("data-needs") : options[0].dataset.name === name && !options[0].hasAttribute("data-needs");
    return this.#mark(whole ? -1 : 0);
  }

  #named(text) {
    const word = ID.exec(text)?.[1].toLowerCase();
    return this.#commands.find(({ dataset }) => dataset.name === word);
  }

  #ids(text) {
    const standings = this.#named(text)?.dataset.completes?.split(" ") ?? [];
    const begun = ID.exec(text)?.[2].toLowerCase() ?? "";
    const efforts = [...document.querySelectorAll("#destination data")].filter(({ dataset }) => standings.includes(dataset.standing));
    if (efforts.some(({ value }) => value === begun)) return [];
    return efforts.filter(({ value }) => value.includes(begun)).map(optionOf);
  }

  #mark(at) {
    const options = [...this.#list.children];
    this.#at = at;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) return this.#field.removeAttribute("aria-activedescendant");
    this.#field.setAttribute("aria-activedescendant", options[at].id);
    return options[at].scrollIntoView({ block: "nearest" });
  }

  #close() {
    this.#list.hidden = true;
    for (const key of [...Object.keys(OPEN), "aria-activedescendant"]) this.#field.removeAttribute(key);
  }

  #pressed(event) {
    if (this.#list.hidden || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
    const { length } = this.#list.children;
    if (event.key in MOVES) this.#mark(this.#at < 0 && event.key === "ArrowUp" ? length - 1 : (this.#at + MOVES[event.key] + length) % length);
    else if (event.key === "Escape") this.#close();
    else if (event.key === "Tab" && !event.shiftKey) this.#choose(this.#list.children[Math.max(this.#at, 0)]);
    else if (event.key === "Enter" && !event.shiftKey && this.#at >= 0) this.#choose(this.#list.children[this.#at]);
    else return;
    event.preventDefault();
  }

  #choose(option) {
    if (!option) return;
    const { name, id, prompt } = option.dataset;
    if (prompt) return this.#insert(prompt);
    this.#field.value = name ? `/${name} ` : `${/^\S+/.exec(this.#field.value)[0]} ${id}`;
    this.#field.focus();
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // A saved prompt takes the place of its name, unless something else was typed meanwhile.
  async #insert(address) {
    const typed = this.#field.value;
    const answer = await data(address);
    if (!answer.ok || this.#field.value !== typed) return;
    this.#field.value = answer.data.text;
    this.#field.focus();
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function optionOf({ value, textContent }) {
  const option = document.createElement("li");
  option.role = "option";
  option.id = `command-id-${value}`;
  option.dataset.id = value;
  const code = document.createElement("code");
  code.textContent = value;
  const help = document.createElement("span");
  help.className = "help clip";
  help.dir = "auto";
  help.textContent = textContent;
  option.append(code, help);
  return option;
}
