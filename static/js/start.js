// The start page: its composer keeps a draft and sends by Enter like the chat's; files lead to a conversation with them
// in its composer.

import { fit } from "./field.js";
import { receive } from "./drops.js";
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

const picker = form.elements.file;
const told = document.getElementById("not-added");

function add(files) {
  const large = [...files].find((file) => file.size > Number(form.dataset.bytes));
  told.hidden = !large;
  told.textContent = large ? `${large.name} is too large; ${form.dataset.most} is the most.` : "";
  if (large) picker.value = "";
  else {
    picker.files = files;
    form.requestSubmit();
  }
}

picker.addEventListener("change", () => picker.files.length && add(picker.files));
receive(form, field, add);
// Who comes back has not picked any.
window.addEventListener("pageshow", () => { picker.value = ""; });

bind("Composer", "Enter", "Send; on touch a new line", () => fine.matches && send(), "#first textarea");
bind("Composer", "Shift+Enter", "New line");
bind("Composer", "Mod+Enter", "Send", send, "#first textarea");
bind("Outside text fields", "c", "Write", () => field.focus());
show();
