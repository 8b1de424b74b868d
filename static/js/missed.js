// What is read again by itself and could not be: nobody asked for it, so nobody is alarmed. The line at the foot says
// that there is no connection, and it is read once that is back. Turns to read on with are missed where they would stand.

import { worded } from "./words.js";

const AGAIN = /(\w+) from:body|\bevery\b/;
const NOBODY_THERE = new Set([0, 502, 503, 504]);

const TURNS = {
  earlier: "Earlier messages could not be loaded. Try again",
  later: "Later messages could not be loaded. Try again",
};

export function missed({ elt, xhr }) {
  if (elt.id in TURNS) {
    elt.textContent = worded(TURNS[elt.id]);
    return xhr.status !== 401;
  }
  const byItself = AGAIN.test(elt.getAttribute?.("hx-trigger") ?? "");
  if (!byItself || !NOBODY_THERE.has(xhr.status)) return false;
  elt.dataset.missed = "";
  return true;
}

export function readMissed() {
  for (const node of document.querySelectorAll("[data-missed]")) {
    delete node.dataset.missed;
    const [, name] = AGAIN.exec(node.getAttribute("hx-trigger"));
    if (name) document.body.dispatchEvent(new CustomEvent(name));
  }
}
