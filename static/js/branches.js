// Branches on the chat page: the editor in place, the versions of a turn, forks, and the chip that says what runs elsewhere.

import { fit } from "./field.js";
import { bind, enterSends } from "./keys.js";
import * as store from "./store.js";

const CHIP_AFTER = 150;
const WROTE = "ccm.wrote";
const EDITOR = ".edit textarea";
const GROUP = "Outside text fields";

let timer = null;

// There is one more, another name, or one runs or has ended: the chip is read again.
export function branchesChanged() {
  clearTimeout(timer);
  timer = setTimeout(() => document.body.dispatchEvent(new Event("branches")), CHIP_AFTER);
}

// Whether what this page shows was just sent from an editor.
export function wroteHere() {
  const [wrote] = store.readHere(WROTE);
  store.writeHere(WROTE, []);
  return wrote ?? false;
}

const focused = (name) => document.activeElement?.closest?.(name);

function press(inside, what) {
  const button = inside?.querySelector(what);
  if (!button) return false;
  button.click();
  return true;
}

// Of the turn that is looked at; else of the last one that has versions.
function version(rel) {
  const all = [...document.querySelectorAll(".turn:has(.siblings)")];
  return press(focused(".turn") ?? all.at(-1), `.siblings a[rel=${rel}]`);
}

bind(GROUP, ",", "Previous version of the turn", () => version("prev"));
bind(GROUP, ".", "Next version of the turn", () => version("next"));
bind(GROUP, "E", "Edit the message and send it in a new branch", () => press(focused(".turn"), "[data-edit]"));
bind(GROUP, "R", "Regenerate in a new branch", () => press(focused(".turn"), "[data-again] button"));
bind(GROUP, "F", "Fork at the message", () => press(focused(".msg"), "[data-fork] button"));
bind(GROUP, "B", "Branches", () => press(document, "#branch-chip"));

bind("Editing a message", "Enter", "Send in a new branch; on touch a new line", (event) => enterSends() && send(event), EDITOR);
bind("Editing a message", "Shift+Enter", "New line");
bind("Editing a message", "Mod+Enter", "Send in a new branch", (event) => send(event), EDITOR);
bind("Editing a message", "Escape", "Leave it as it was", (event) => cancel(event.target), EDITOR);

function send({ target }) {
  target.form.requestSubmit();
}

// Words that are written in place are kept in this browser until they are sent or given up.
const kept = (form) => `ccm.draft.${document.getElementById("current").value}.edit${form.getAttribute("action")}`;

function cancel(inside) {
  const editor = inside.closest(".edit");
  store.forget(kept(editor));
  const message = editor.closest(".msg");
  editor.remove();
  message?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => event.target.closest("[data-cancel-edit]") && cancel(event.target));
// On the page of the new branch one writes on.
document.addEventListener("submit", ({ target }) => target.matches(".edit") && store.writeHere(WROTE, [true]));
document.addEventListener("input", ({ target }) => {
  if (!target.matches(EDITOR)) return;
  store.write(kept(target.form), target.value);
  fit(target);
});
document.body.addEventListener("htmx:afterRequest", ({ detail: { requestConfig, xhr } }) => {
  if (xhr.status === 204 && requestConfig.elt.matches(".edit")) store.forget(kept(requestConfig.elt));
});
document.body.addEventListener("htmx:load", ({ detail }) => detail.elt.matches?.(".edit") && write(detail.elt.querySelector("textarea")));
document.body.addEventListener("htmx:beforeRequest", (event) => {
  const open = event.target.matches("[data-edit]") && event.target.closest(".msg").querySelector(EDITOR);
  if (!open) return;
  event.preventDefault();
  open.focus();
});

function write(field) {
  field.value = store.read(kept(field.form)) ?? field.value;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  fit(field);
}
