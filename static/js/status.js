// The page's two live regions and its connection lamp.

import { worded } from "./words.js";

const LONGEST_ALERTS = 3;

export function say(text) {
  document.getElementById("says").textContent = worded(text);
}

export function alert(text) {
  const region = document.getElementById("alerts");
  const box = document.createElement("div");
  box.className = "notice bad";
  const words = document.createElement("p");
  words.textContent = worded(text);
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button ghost small";
  close.textContent = worded("Close");
  close.addEventListener("click", () => box.remove());
  words.append(" ", close);
  box.append(icon("alert"), words);
  region.append(box);
  while (region.children.length > LONGEST_ALERTS) region.firstElementChild.remove();
}

export function icon(name, extra = "") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `icon ${extra}`);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

const WORDS = { live: "Live", reconnecting: "Reconnecting", offline: "Offline", closed: "Closed" };

export function connection(state, waiting) {
  const lamp = document.getElementById("connection");
  if (!lamp) return;
  const queue = waiting === 1 ? `, ${waiting} message waiting` : `, ${waiting} messages waiting`;
  const text = worded(WORDS[state]) + (state === "live" || waiting === 0 ? "" : worded(queue));
  lamp.hidden = false;
  lamp.dataset.state = state;
  if (lamp.lastElementChild.textContent !== text) lamp.lastElementChild.textContent = text;
}
