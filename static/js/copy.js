// Copying: a message as Markdown, a block of code as it is.

import { say } from "./status.js";

export function enhance(root) {
  for (const label of root.querySelectorAll(".code > .label:not(:has(button))")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button ghost small";
    button.textContent = "Copy";
    button.dataset.copyCode = "";
    label.append(button);
  }
  for (const block of root.querySelectorAll(".prose pre, .prose table")) block.tabIndex = 0;
}

export function messageText(message) {
  const pieces = message.querySelectorAll("template.raw, [data-raw]");
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
  else button.textContent = "Copied";
  setTimeout(() => (use ? use.setAttribute("href", "#i-copy") : (button.textContent = "Copy")), 1_500);
});
