// The start page: its composer keeps a draft and sends by Enter like the chat's.

import { fit } from "./field.js";
import { bind } from "./keys.js";
import * as store from "./store.js";

const DRAFT = "ccm.draft.start";
const form = document.getElementById("first");
const field = form.querySelector("textarea");
const button = form.querySelector("button");
const fine = window.matchMedia("(pointer: fine)");

function show() {
  fit(field);
  button.disabled = !field.value.trim();
}

function send() {
  if (field.value.trim()) form.requestSubmit();
}

field.value ||= store.read(DRAFT) ?? "";
field.addEventListener("input", () => {
  store.write(DRAFT, field.value);
  show();
});
form.addEventListener("submit", () => {
  store.forget(DRAFT);
  button.disabled = true;
});
window.addEventListener("pageshow", show);

bind("Composer", "Enter", "Send; on touch a new line", () => fine.matches && send(), "#first textarea");
bind("Composer", "Shift+Enter", "New line");
bind("Composer", "Mod+Enter", "Send", send, "#first textarea");
bind("Outside text fields", "c", "Write", () => field.focus());
show();
