// A reply while it comes: blocks that are finished as the server renders them, and behind them the text of the last one.

import { enhance } from "./copy.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n]*(?:\n|$)/;
// The same within a quotation, with its code, whether it has ended or not.
const QUOTED = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n]*(?:\n|$)([^]*?)(?:^ {0,3}\1[`~]*[ \t]*(?:\n|$)|(?![^]))/m;
const QUOTE = /^ {0,3}>/;
const MARKS = /^(?: {0,3}> ?)+/gm;
// After these a block may be finished: a blank line, and a line that opens or closes code.
const MAY_END = /\n[ \t\r]*\n|(?:^|\n) {0,3}(?:```|~~~)[^\n]*\n/;
const all = new WeakMap();

export class Live {
  asking = false;
  again = false;
  #node;
  #text;
  #looked = 0;

  constructor(node) {
    this.#node = node;
    this.#text = this.#tail.textContent;
  }

  // Null where the turn has no reply yet.
  static of(article) {
    const node = article.querySelector(".live");
    if (!node) return null;
    if (!all.has(node)) all.set(node, new Live(node));
    return all.get(node);
  }

  get #tail() {
    return this.#node.querySelector(".tail");
  }

  get from() {
    return Number(this.#node.dataset.from);
  }

  // True where a block may have been finished by it.
  write(text) {
    const shown = this.#text;
    this.#text += text;
    const fence = FENCE.test(this.#text);
    if (fence) this.#paintFence(shown, text);
    else if (QUOTE.test(this.#text)) this.#paintQuote();
    else this.#paintText(text);
    const fresh = this.#text.slice(Math.max(0, this.#looked - 1));
    const end = fresh.lastIndexOf("\n");
    const ends = end >= 0 && MAY_END.test(fresh.slice(0, end + 1));
    // From the beginning of the last line on: what ends a block may come in two pieces.
    if (end >= 0) this.#looked = this.#text.lastIndexOf("\n", this.#text.lastIndexOf("\n") - 1) + 1;
    this.again ||= ends && this.asking;
    return ends;
  }

  finish({ html, end }) {
    const length = end - this.from;
    const points = Array.from(this.#text);
    // Ahead of what has come here, it is asked for again when that has.
    if (length <= 0 || length > points.length) return;
    const block = document.createElement("template");
    block.innerHTML = html;
    const finished = this.#node.querySelector(".finished");
    const raw = this.#node.querySelector("template.so-far").content;
    raw.append(points.slice(0, length).join(""));
    this.#node.dataset.from = end;
    this.#text = points.slice(length).join("");
    this.#looked = 0;
    // Another node: the one that showed the block would be seen to jump behind it.
    const tail = this.#tail.cloneNode(false);
    tail.className = "tail";
    this.#tail.replaceWith(tail);
    finished.append(block.content);
    enhance(this.#node);
    const rest = this.#text;
    this.#text = "";
    if (this.write(rest)) this.again = true;
  }

  // Blank lines get the height that they have between paragraphs later, so that nothing jumps when Markdown comes.
  #paintText(text) {
    const tail = this.#tail;
    const last = tail.lastChild;
    const pieces = `${last?.textContent ?? ""}${text}`.split(/(\n{2,})/);
    last?.remove();
    pieces.forEach((piece, place) => piece && tail.append(place % 2 ? gap(piece) : piece));
  }

  // A quotation stands beside its line from its first word on, without the marks that make it one, its code in boxes.
  #paintQuote() {
    const quote = document.createElement("blockquote");
    const pieces = this.#text.replace(MARKS, "").split(QUOTED);
    for (let at = 0; at < pieces.length; at += 4) {
      const words = Object.assign(document.createElement("p"), { textContent: pieces[at].replace(/\n$/, "") });
      if (words.textContent || pieces.length === 1) quote.append(words);
      if (at + 3 < pieces.length) quote.append(boxed(pieces[at + 2], pieces[at + 3]));
    }
    const tail = this.#tail;
    tail.classList.add("quote", "prose");
    tail.replaceChildren(quote);
  }

  // Code has its box from the first line on, as it will stand.
  #paintFence(shown, text) {
    const tail = this.#tail;
    const [line, , language] = FENCE.exec(this.#text);
    const code = tail.querySelector("code");
    if (code && FENCE.exec(shown)?.[0] === line) {
      code.append(text);
      return;
    }
    tail.classList.add("fence", "prose");
    tail.replaceChildren(boxed(language, this.#text.slice(line.length)));
  }
}

function boxed(language, text) {
  const box = document.createElement("div");
  box.className = "code";
  const label = Object.assign(document.createElement("div"), { className: "label", textContent: language || "text" });
  const pre = document.createElement("pre");
  pre.append(Object.assign(document.createElement("code"), { textContent: text }));
  box.append(label, pre);
  return box;
}

function gap(lines) {
  const node = document.createElement("span");
  node.className = "gap";
  node.textContent = lines;
  return node;
}
