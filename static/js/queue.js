// The queue of reviews by keys: from row to row; Enter opens, as of any link.

import { bind } from "./keys.js";
import { say } from "./status.js";

const GROUP = "Reviews";
const links = () => [...document.querySelectorAll("#queue .what a")];

function step(by) {
  const all = links();
  const at = all.indexOf(document.activeElement);
  const next = at < 0 ? all[0] : all[at + by];
  if (next) next.focus();
  else say(all.length ? (by > 0 ? "That was the last one." : "That was the first one.") : "Nothing is listed.");
}

bind(GROUP, "j", "Next summary", () => step(1));
bind(GROUP, "k", "Summary before", () => step(-1));
bind(GROUP, "Enter", "Open it");
