// The start page: its composer keeps a draft and sends by Enter like the chat's; files lead to a conversation with them
// in its composer.

import { fit } from "./field.js";
import { receive } from "./drops.js";
import { showTab } from "./app.js";
import { named } from "./arrive.js";
import { bind, enterSends } from "./keys.js";
import * as store from "./store.js";
import { worded } from "./words.js";

const form = document.getElementById("first");
const field = form.querySelector("textarea");
const button = form.querySelector("button");

function show() {
  fit(field);
  button.disabled = !field.value.trim();
}

function tell(text) {
  const told = document.getElementById("not-sent");
  told.hidden = !text;
  told.textContent = worded(text);
}

function send() {
  if (field.value.trim()) form.requestSubmit();
}

field.value ||= store.read(store.START) ?? "";
field.addEventListener("input", () => {
  store.write(store.START, field.value);
  tell("");
  show();
});
form.addEventListener("submit", (event) => {
  const size = new Blob([field.value]).size;
  const most = Number(form.dataset.textBytes);
  if (size > most) {
    event.preventDefault();
    const [has, largest] = [size, most].map((bytes) => bytes.toLocaleString(document.documentElement.lang));
    tell(`The message has ${has} bytes; ${largest} is the most. Send it in parts.`);
    return;
  }
  store.writeHere(store.SENT, [true]);
  button.disabled = true;
});
window.addEventListener("pageshow", show);

const picker = form.elements.file;

function add(files) {
  const large = [...files].find((file) => file.size > Number(form.dataset.bytes));
  tell(large ? `${large.name} is too large; ${form.dataset.most} is the most.` : "");
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

bind("Composer", "Enter", "Send; on touch a new line", () => enterSends() && send(), "#first textarea");
bind("Composer", "Shift+Enter", "New line");
bind("Composer", "Mod+Enter", "Send", send, "#first textarea");
bind("Outside text fields", "c", "Write", () => field.focus());
show();

// Who deleted a conversation on its own page is led to its Undo.
const undo = document.getElementById(named());
if (undo?.closest(".deleted")) {
  showTab("side");
  undo.focus();
}
