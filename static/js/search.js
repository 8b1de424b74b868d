// The search dialog: a key opens it, arrows lead through what was found, Enter goes there.

import { bind } from "./keys.js";

const opener = document.getElementById("search");

function open() {
  const field = document.getElementById("q");
  if (field) field.select();
  else opener.click();
}

if (opener) bind("Anywhere", "Mod+k", "Search and go to", open);

// What is found while one types is found again on the way back to it.
document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.elt.matches("form[role=search]:not(.search-box)")) {
    history.replaceState(null, "", detail.pathInfo.finalRequestPath);
  }
});

const MOVES = { ArrowDown: 1, ArrowUp: -1 };

document.getElementById("dialog").addEventListener("keydown", (event) => {
  const box = event.target.closest(".search-box");
  if (!box || event.isComposing || event.keyCode === 229) return;
  // In a search field the first Escape would only empty it.
  if (event.key === "Escape") {
    event.preventDefault();
    box.closest("dialog").close();
  }
  if (event.key in MOVES) move(event, box, MOVES[event.key]);
  if (event.key === "Enter" && event.target.matches("[type=search]")) openFirst(event, box);
});

// A command is written where it is typed, for the person to finish and send.
document.getElementById("dialog").addEventListener("click", (event) => {
  const { command } = event.target.closest(".search-box .place")?.dataset ?? {};
  const field = command && document.querySelector(".composer textarea");
  if (!field) return;
  event.preventDefault();
  field.value = command;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.closest("body").querySelector("#dialog").close();
  field.focus();
});

// The field stands above the first result.
function move(event, box, by) {
  const stops = [box.querySelector("[type=search]"), ...box.querySelectorAll(".hit .place")];
  const at = stops.indexOf(document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  const next = stops[Math.max(0, Math.min(stops.length - 1, at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

// What was typed between the field's coming and its being wired has reached nobody.
document.getElementById("dialog").addEventListener("htmx:afterSettle", () => {
  const field = document.getElementById("box-q");
  if (!field?.value || field.dataset.wired) return;
  field.dataset.wired = "1";
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// What is shown may still be of the letters before: then Enter leads to the page, which searches by itself.
function openFirst(event, box) {
  const { query } = box.querySelector(".results")?.dataset ?? {};
  const first = box.querySelector(".hit .place");
  if (!first || query !== event.target.value.trim()) return;
  event.preventDefault();
  first.click();
}
