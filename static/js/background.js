// What goes on where nobody is looking: the list is read again now and then, the tab's title counts what is
// new, a reply or a draft, and whoever asked for it is notified.

import { worded } from "./words.js";

const list = document.getElementById("conversations");
const inSight = document.getElementById("in-sight");
const button = document.getElementById("notify");
const OFTEN = 5_000;
const SELDOM = 60_000;
const PART = 60;
const WANTED = "ccm.notify";
let known = unread();
let timer;

function unread() {
  return new Map([...(list?.querySelectorAll("li.unread") ?? [])].map((row) => [row.dataset.session, row]));
}

function wanted() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(WANTED) === "1";
}

function told(row) {
  const note = new Notification(worded("There is something new"), { body: row.querySelector("a").title, tag: row.dataset.session });
  note.addEventListener("click", () => {
    window.focus();
    row.querySelector("a").click();
  });
}

function look() {
  const now = unread();
  const bare = document.title.replace(/^\(\d+\) /, "");
  document.title = now.size ? `(${now.size}) ${bare}` : bare;
  if (wanted()) for (const [id, row] of now) if (!known.has(id)) told(row);
  known = now;
  wait();
}

// A list that is several parts long takes so many times as long to be read again.
function wait() {
  clearTimeout(timer);
  const parts = Math.ceil(list.querySelectorAll("li[data-session]").length / PART);
  const running = list.querySelector("[data-running]") ? Math.min(Math.max(parts, 1) * OFTEN, SELDOM) : SELDOM;
  timer = setTimeout(read, list.querySelector(".deleted") ? OFTEN : running);
}

// Not under somebody's fingers: a menu that is open, or a row that has the focus, stays as it is. The time to undo runs out.
function read() {
  const focused = list.contains(document.activeElement) && !document.activeElement.closest(".deleted");
  if (list.querySelector("details[open]") || focused) wait();
  else document.body.dispatchEvent(new CustomEvent("conversations"));
}

function see() {
  inSight.value = document.visibilityState === "visible" ? "1" : "";
}

function offer() {
  button.hidden = !("Notification" in window);
  button.querySelector("span").textContent = worded(wanted() ? "Stop notifying me" : "Notify me of replies");
}

if (list && inSight) {
  see();
  document.addEventListener("visibilitychange", () => {
    see();
    if (inSight.value) read();
  });
  // As long as it was: who has gone down in it stays there.
  list.addEventListener("htmx:configRequest", ({ detail: { elt, parameters } }) => {
    if (elt === list) parameters.shown = list.querySelectorAll("li[data-session]").length;
  });
  list.addEventListener("htmx:afterSettle", look);
  // Where there was no answer, it is asked for again.
  list.addEventListener("htmx:afterRequest", wait);
  look();
}
if (button) {
  offer();
  button.addEventListener("click", async () => {
    if (wanted()) localStorage.removeItem(WANTED);
    else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(WANTED, "1");
    offer();
  });
}
