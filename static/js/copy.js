// Copying: a message as Markdown, a block of code as it is.

import { say } from "./status.js";
import * as store from "./store.js";
import { worded } from "./words.js";

const WRAP = "ccm.wrap";

export function enhance(root) {
  for (const label of root.querySelectorAll(".code > .label:not(:has(button))")) {
    const wrap = buttonOf("Wrap", "wrapCode");
    wrap.setAttribute("aria-pressed", String(store.read(WRAP) === "1"));
    label.append(wrap, buttonOf("Copy", "copyCode"));
  }
  for (const block of root.querySelectorAll(".prose :is(pre, table, .math.block, .math.wide)")) block.tabIndex = 0;
}

function buttonOf(text, name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button ghost small";
  button.textContent = worded(text);
  button.dataset[name] = "";
  return button;
}

// One choice for all code, which this browser keeps: a turn that is read again has it too.
function wrapCode(on) {
  document.documentElement.classList.toggle("wrap-code", on);
  for (const button of document.querySelectorAll("[data-wrap-code]")) button.setAttribute("aria-pressed", String(on));
}

wrapCode(store.read(WRAP) === "1");
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-wrap-code]");
  if (!button) return;
  const on = button.getAttribute("aria-pressed") !== "true";
  store.write(WRAP, on ? "1" : "0");
  wrapCode(on);
});

export function messageText(message) {
  const pieces = message.querySelectorAll("template.raw, template.so-far, [data-raw]");
  return Array.from(pieces, (piece) => (piece.content ?? piece).textContent)
    .filter(Boolean)
    .join("\n\n");
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyOldWay(text);
  }
  say("Copied");
}

// The clipboard is closed to pages that come over plain http from another computer.
function copyOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-code]");
  if (!button) return;
  const code = button.closest(".code")?.querySelector("code");
  await copyText("copyCode" in button.dataset ? code.textContent : messageText(button.closest(".msg")));
  const use = button.querySelector("use");
  if (use) use.setAttribute("href", "#i-check");
  else button.textContent = worded("Copied");
  setTimeout(() => (use ? use.setAttribute("href", "#i-copy") : (button.textContent = worded("Copy"))), 1_500);
});
