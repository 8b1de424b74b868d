// One table of keys: it binds them, and the sheet under "?" is written from it.

import { icon } from "./status.js";
import * as store from "./store.js";
import { TERMS } from "./terms.js";
import { worded } from "./words.js";

const OFF = "ccm.letters.off";
const ENTER = "ccm.enter.sends";
const CHORD_WITHIN = 1_000;
export const TYPING = "input, textarea, select, [contenteditable]";

const table = [];
const described = [];
let prefix = "";
let prefixAt = 0;

// where: a selector of the field it belongs to, or "" for the whole page. run: returns false to let the key through.
export function bind(group, combo, text, run = null, where = "") {
  table.push({ group, combo, text, run, where });
}

// What is typed and not pressed. rows: [[what, words], ...]
export function describe(title, rows) {
  described.push([title, rows]);
}

// As this person has chosen; else on touch it is a new line. Where there is no pointer, there is a keyboard.
export function enterSends() {
  const chosen = store.read(ENTER);
  return chosen ? chosen === "1" : !window.matchMedia("(pointer: coarse)").matches;
}

// What is said of it beside a field stands there only while it is so.
function sayEnter() {
  document.documentElement.classList.toggle("enter-is-line", !enterSends());
}

sayEnter();

function comboOf(event) {
  const letter = event.altKey && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.key;
  const held = [event.ctrlKey || event.metaKey ? "Mod" : "", event.altKey ? "Alt" : ""];
  if (event.shiftKey && letter.length > 1) held.push("Shift");
  return [...held.filter(Boolean), letter].join("+");
}

const isLetter = (combo) => !combo.includes("+") && combo.replace(" ", "").length <= 2;

function matches(entry, event, combo, typing) {
  if (!entry.run || entry.combo !== combo) return false;
  if (entry.where) return event.target.matches?.(entry.where) ?? false;
  // An open dialog has the keyboard to itself.
  if (document.querySelector("dialog[open]")) return false;
  return !isLetter(entry.combo) || (!typing && store.read(OFF) !== "1");
}

document.addEventListener("keydown", (event) => {
  // While an input method composes, keys belong to it.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  const typing = event.target.matches?.(TYPING) ?? false;
  const combo = comboOf(event);
  const chord = Date.now() - prefixAt < CHORD_WITHIN ? `${prefix} ${combo}` : "";
  const entry = table.find((one) => chord && matches(one, event, chord, typing)) ?? table.find((one) => matches(one, event, combo, typing));
  prefix = typing ? "" : combo;
  prefixAt = Date.now();
  if (entry && entry.run(event) !== false) {
    event.preventDefault();
    prefix = "";
  }
});

// What its words mean stands below all its keys: who asks for them is led there.
export function showWords(dialog) {
  showSheet(dialog);
  const title = dialog.querySelector("#what-words-mean");
  title.scrollIntoView();
  title.focus({ preventScroll: true });
}

export function showSheet(dialog) {
  const body = element("div");
  body.className = "body";
  for (const group of new Set(table.map((entry) => entry.group))) body.append(element("h3", group), listOf(group));
  for (const [title, rows] of described) body.append(element("h3", title), typedOf(rows));
  const words = element("h3", "Words");
  words.id = "what-words-mean";
  words.tabIndex = -1;
  body.append(words, listOfTerms());
  body.append(
    choice("Enter sends the message", enterSends(), (on) => {
      store.write(ENTER, on ? "1" : "0");
      sayEnter();
    }),
    choice("Single letters work outside text fields", store.read(OFF) !== "1", (on) => (on ? store.forget(OFF) : store.write(OFF, "1"))),
  );
  dialog.replaceChildren(head(), body);
  dialog.showModal();
}

function listOf(group) {
  const list = element("dl");
  list.className = "keys";
  for (const entry of table.filter((one) => one.group === group)) list.append(keysOf(entry), element("dd", entry.text));
  return list;
}

function listOfTerms() {
  const list = element("dl");
  list.className = "keys";
  for (const text of TERMS) {
    const [, term, words] = worded(text).match(/^([^:]+): (.*)$/);
    list.append(element("dt", term), element("dd", words[0].toUpperCase() + words.slice(1)));
  }
  return list;
}

function typedOf(rows) {
  const list = element("dl");
  list.className = "keys";
  for (const [what, words] of rows) {
    const term = element("dt");
    term.append(element("code", what));
    list.append(term, element("dd", words));
  }
  return list;
}

function keysOf({ combo }) {
  const term = element("dt");
  const names = { Mod: navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl", Escape: "Esc" };
  // As they are printed on keyboards, and on the buttons of pages.
  const keys = combo.split(/[+ ]/).flatMap((key) => (/^[A-Z]$/.test(key) ? ["Shift", key] : [key]));
  for (const key of keys) term.append(element("kbd", names[key] ?? (key.length === 1 ? key.toUpperCase() : key)), " ");
  return term;
}

function head() {
  const row = element("div");
  row.className = "head";
  const title = element("h2", "Keys and words");
  title.id = "dialog-title";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button ghost small only push";
  const name = element("span", "Close");
  name.className = "unseen";
  close.append(icon("cross"), name);
  close.dataset.close = "";
  row.append(title, close);
  return row;
}

function choice(text, on, choose) {
  const label = element("label");
  label.className = "check";
  const box = element("input");
  box.type = "checkbox";
  box.checked = on;
  box.addEventListener("change", () => choose(box.checked));
  label.append(box, worded(text));
  return label;
}

function element(name, text = "") {
  const node = document.createElement(name);
  node.textContent = worded(text);
  return node;
}
