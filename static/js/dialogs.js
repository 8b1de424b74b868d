// The page's dialog, filled by htmx, and its menus.

const dialog = document.getElementById("dialog");

function openDialog() {
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("[autofocus]") ?? dialog.querySelector("select, input:not([type=hidden])");
  first?.focus();
}

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === dialog) openDialog();
});
document.body.addEventListener("closeDialog", () => dialog.close());
dialog.addEventListener("close", () => dialog.replaceChildren());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
});

document.addEventListener("click", (event) => {
  const chosen = event.target.closest(".sheet a, .sheet form:not(.theme-form) button, .sheet [data-key]");
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (!menu.contains(event.target) || chosen) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
  event.stopImmediatePropagation();
});

// What a panel had open stays open when it is read again, and what had the focus in it keeps it.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { target } = event.detail;
  const open = [...target.querySelectorAll("details[open][id]")].map((node) => node.id);
  const focused = target.contains(document.activeElement) ? document.activeElement.id : "";
  const put = () => {
    open.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
    // Only now, as nothing in closed details can have it.
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };
  target.addEventListener("htmx:afterSwap", put, { once: true });
});
// The same for what comes along with the answer to another request.
document.body.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  for (const open of target.querySelectorAll("details[open][id]")) fragment.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
});
