// Files in the composer: picked, dropped or pasted, read by the server one after the other, taken away, sent.

import { receive } from "./drops.js";
import { part, send, whyNot } from "./http.js";
import { icon } from "./status.js";
import { worded } from "./words.js";

export class Files {
  #node = document.getElementById("files");
  #picker = document.getElementById("file-picker");
  #address = this.#node.dataset.address;
  #on;
  #coming = [];
  #reading = false;

  // on: {changed(), leaving() -> ids of files that messages on their way have}
  constructor(on) {
    this.#on = on;
    document.getElementById("add-file-button").addEventListener("click", () => this.#picker.click());
    this.#picker.addEventListener("change", () => {
      this.add([...this.#picker.files]);
      // The same file can be picked again.
      this.#picker.value = "";
    });
    this.#node.addEventListener("submit", (event) => {
      if (!event.target.matches("[data-remove]")) return;
      event.preventDefault();
      this.#remove(event.target);
    });
    receive(document.getElementById("scroller"), document.querySelector("#composer textarea"), (files) => this.add([...files]));
    this.#hideLeaving();
  }

  get busy() {
    return this.#coming.length > 0;
  }

  // Of what is in the composer.
  get ids() {
    return [...this.#node.querySelectorAll("[data-file]")].map(({ dataset }) => dataset.file);
  }

  get names() {
    return [...this.#node.querySelectorAll("[data-file]")].map(({ dataset }) => dataset.name);
  }

  // They go with a message.
  clear() {
    for (const chip of this.#node.querySelectorAll("[data-file], .notice")) chip.remove();
    this.#tidy();
  }

  add(files) {
    if (!this.busy) this.#forgetTold();
    for (const file of files) {
      const chip = document.createElement("li");
      chip.className = "file-chip coming";
      const name = document.createElement("span");
      name.className = "clip";
      name.dir = "auto";
      name.textContent = file.name;
      chip.append(icon("spin", "spin"), name, worded("Reading …"));
      this.#list().append(chip);
      this.#coming.push({ file, chip });
    }
    this.#on.changed();
    this.#next();
  }

  async reload() {
    const answer = await part(this.#address);
    if (answer.ok) this.#show(answer);
    this.#on.changed();
  }

  async #next() {
    if (this.#reading || !this.busy) return;
    this.#reading = true;
    const [{ file, chip }] = this.#coming;
    const most = Number(this.#node.dataset.bytes);
    const form = new FormData();
    form.append("file", file, file.name);
    const answer = file.size > most ? null : await send(this.#address, form);
    this.#coming.shift();
    chip.remove();
    this.#reading = false;
    if (answer) this.#answered(answer, file.name);
    else {
      this.#refuse(file.name, `The file is too large; ${this.#node.dataset.most} is the most.`);
      this.#on.changed();
    }
    this.#next();
  }

  #forgetTold() {
    for (const notice of this.#node.querySelectorAll(".notice.bad")) notice.remove();
  }

  async #remove(form) {
    this.#forgetTold();
    const { name } = form.closest("[data-file]").dataset;
    this.#answered(await send(form.action, new FormData(form)), name, "was not removed");
    document.querySelector("#composer textarea").focus();
  }

  // A refusal comes with the list, too.
  #answered(answer, name, what) {
    if (answer.ok) this.#show(answer);
    else this.#refuse(name, whyNot(answer), what);
    this.#on.changed();
  }

  #show({ data: html }) {
    const told = [...this.#node.querySelectorAll(".notice.bad")];
    this.#node.innerHTML = html;
    window.htmx.process(this.#node);
    // What was told stays until something else is done: the list is read again whenever it changes anywhere.
    this.#node.append(...told);
    for (const { chip } of this.#coming) this.#list().append(chip);
    this.#hideLeaving();
  }

  #hideLeaving() {
    const leaving = this.#on.leaving();
    for (const chip of this.#node.querySelectorAll("[data-file]")) if (leaving.includes(chip.dataset.file)) chip.remove();
    this.#tidy();
  }

  #refuse(name, why, what = "was not added") {
    const box = document.createElement("div");
    box.className = "notice bad";
    box.setAttribute("role", "alert");
    const words = document.createElement("p");
    const which = document.createElement("b");
    which.dir = "auto";
    which.textContent = name;
    words.append(which, ` ${worded(what)}. ${worded(why)}`);
    box.append(icon("alert"), words);
    this.#node.append(box);
  }

  #list() {
    let list = this.#node.querySelector(".files");
    if (!list) {
      list = document.createElement("ul");
      list.className = "files";
      list.setAttribute("aria-label", worded("Files of this message"));
      this.#node.prepend(list);
    }
    return list;
  }

  #tidy() {
    const list = this.#node.querySelector(".files");
    if (list && !list.children.length) list.remove();
  }
}
