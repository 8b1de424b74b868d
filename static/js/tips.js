// Three tips on the example. They stand above the composer and cover nothing; what each is about is outlined.

import { read, write } from "./store.js";
import { worded } from "./words.js";

const YEAR = 31_536_000;
const PLACE = "ccm-tip";

const box = document.getElementById("tips");
const narrow = window.matchMedia("(max-width: 699.98px)");
let at = 0;

function show(next) {
  const tips = [...box.querySelectorAll(".tip")];
  for (const old of document.querySelectorAll(".pointed")) old.classList.remove("pointed");
  at = next;
  write(PLACE, String(at));
  for (const [place, tip] of tips.entries()) tip.hidden = place !== at;
  const { at: wide, atNarrow } = tips[at].dataset;
  document.querySelector((narrow.matches && atNarrow) || wide)?.classList.add("pointed");
  box.querySelector("[data-now]").textContent = at + 1;
  const last = at === tips.length - 1;
  box.querySelector("[data-tips=next]").textContent = worded(last ? "Done" : "Next");
  box.querySelector("[data-tips=close]").hidden = last;
}

function close() {
  document.cookie = `ccm_tips=read; path=/; max-age=${YEAR}; samesite=lax`;
  for (const old of document.querySelectorAll(".pointed")) old.classList.remove("pointed");
  box.remove();
  document.getElementById("text").focus();
}

function go(where) {
  if (where === "close" || at === box.querySelectorAll(".tip").length - 1) return close();
  show(at + 1);
}

if (box) {
  box.hidden = false;
  box.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-tips]");
    if (pressed) go(pressed.dataset.tips);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  narrow.addEventListener("change", () => box.isConnected && show(at));
  // On another visit it goes on where it was.
  show(Math.min(Number(read(PLACE)) || 0, box.querySelectorAll(".tip").length - 1));
}
