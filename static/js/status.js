// The page's two live regions and its connection lamp.

import { worded } from "./words.js";

const LONGEST_ALERTS = 3;
const SHORTLY = 6_000;

export function say(text) {
  document.getElementById("says").textContent = worded(text);
}

// What is told already is told anew, in one box.
export function alert(text) {
  const region = document.getElementById("alerts");
  const { box, words } = notice("bad", "alert", text);
  for (const older of region.children) if (older.querySelector("p").textContent === words.textContent) older.remove();
  box.append(closing(box));
  region.append(box);
  while (region.children.length > LONGEST_ALERTS) region.firstElementChild.remove();
}

// What has come of something asked for before, told where the person looks: it stays until it is closed or followed.
export function tell(text, link) {
  const region = document.getElementById("alerts");
  const { box, words } = notice("told", "wait", text);
  const go = document.createElement("a");
  go.className = "button small";
  go.href = link.href;
  go.textContent = worded(link.label);
  go.addEventListener("click", (event) => {
    box.remove();
    link.follow(event);
  });
  words.append(" ", go);
  box.append(closing(box));
  for (const older of region.querySelectorAll(".told")) older.remove();
  region.append(box);
  return box;
}

// In sight for a while, and said.
export function tellShortly(text) {
  say(text);
  document.getElementById("shortly")?.remove();
  const { box } = notice("", "recall", text);
  box.id = "shortly";
  box.setAttribute("aria-hidden", "true");
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), SHORTLY);
}

function notice(kind, sign, text) {
  const box = document.createElement("div");
  box.className = `notice ${kind}`;
  const words = Object.assign(document.createElement("p"), { textContent: worded(text) });
  box.append(icon(sign), words);
  return { box, words };
}

function closing(box) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button ghost small only";
  close.append(icon("cross"), Object.assign(document.createElement("span"), { className: "unseen", textContent: worded("Close") }));
  close.addEventListener("click", () => box.remove());
  return close;
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
