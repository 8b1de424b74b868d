// Being led to something on the page: it is brought into view in its tab, has the focus, and is marked for a moment.

import { showPanel, showTab } from "./app.js";

const MARKED_FOR = 2_500;

export function arriveAt(node) {
  for (let box = node.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  if (node.closest("#context")) showPanel(true);
  else showTab(node.closest("#side") ? "efforts" : "main");
  // What opens below a name is looked for too.
  const whole = node.matches("summary") ? node.parentElement : node;
  // What a new version of a message takes back is said just above it.
  const above = node.previousElementSibling?.querySelector("[data-version]");
  (above ?? whole).scrollIntoView({ block: node.closest("#log") ? "start" : "nearest" });
  node.focus({ preventScroll: true });
  node.classList.add("arrived");
  setTimeout(() => node.classList.remove("arrived"), MARKED_FOR);
}

// What the address of the page names; empty where that is nothing.
export function named() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}
