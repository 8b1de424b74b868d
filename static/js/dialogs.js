// The page's dialog and its drawer, filled by htmx, and its menus.

const dialog = document.getElementById("dialog");
const drawer = document.getElementById("drawer");

function open(node) {
  if (!node.open) node.showModal();
  node.scrollTop = 0;
  const first = node.querySelector("[autofocus]") ?? node.querySelector("select, input:not([type=hidden])");
  first?.focus();
}

// To the part of what was opened that the link which led here names, if it names one.
function leadTo(node, hash) {
  const part = hash ? node.querySelector(hash) : null;
  part?.scrollIntoView();
  part?.focus({ preventScroll: true });
}

for (const node of [dialog, drawer]) {
  let opener = "";
  document.body.addEventListener("htmx:beforeRequest", ({ detail }) => {
    // A key leaves the focus where it is, and what it pressed is elsewhere.
    if (detail.target === node && !node.open) opener = document.activeElement.id || detail.elt.id;
  });
  document.body.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target === node) open(node);
  });
  // Not before: until then htmx gives the focus to what asks for it by itself.
  document.body.addEventListener("htmx:afterSettle", ({ detail }) => {
    if (detail.target === node) leadTo(node, detail.requestConfig?.elt.hash);
  });
  node.addEventListener("close", () => {
    node.replaceChildren();
    // What opened it may have been read again meanwhile: then the browser does not know where to go back to.
    if (document.activeElement === document.body) focusOpener(document.getElementById(opener));
  });
  node.addEventListener("click", (event) => {
    if (event.target === node || event.target.closest("[data-close], [data-turn-link], .place")) node.close();
  });
}
// In a menu, which has closed since, it is the menu's button.
function focusOpener(node) {
  (node?.closest(".menu:not([open])")?.querySelector("summary") ?? node)?.focus();
}
document.body.addEventListener("closeDialog", () => dialog.close());

document.addEventListener("click", (event) => {
  const chosen = event.target.closest(".sheet a, .sheet form:not(.theme-form) button, .sheet [data-key]");
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (!menu.contains(event.target)) shut(menu);
    // Not before its form has been sent: the button that loses the focus would be left out of what is sent.
    else if (chosen) setTimeout(shut, 0, menu);
  }
});
function shut(menu) {
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus({ preventScroll: true });
  menu.open = false;
}
// Where there is no room below it, a menu opens upwards. One that is fixed is told where its button is: where it would
// stand by itself is not moved by what scrolls.
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.matches?.(".menu")) return;
    const sheet = target.querySelector(":scope > .sheet");
    sheet.classList.remove("above");
    sheet.style.setProperty("--below", `${target.getBoundingClientRect().bottom}px`);
    const lowest = target.closest(".scroller")?.getBoundingClientRect().bottom ?? window.innerHeight;
    sheet.classList.toggle("above", target.open && sheet.getBoundingClientRect().bottom > lowest);
  },
  true,
);
document.addEventListener(
  "scroll",
  ({ target }) => {
    for (const menu of document.querySelectorAll("#conversations .menu[open]")) if (target.contains(menu)) shut(menu);
  },
  true,
);
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
  event.stopImmediatePropagation();
});

// What a panel had open stays open when it is read again, and what had the focus in it keeps it.
const kept = new WeakMap();
// A button that is switched off while its request is on its way loses the focus by that.
const asked = new WeakMap();
const active = (xhr) => (document.activeElement === document.body ? asked.get(xhr) : document.activeElement);
// From the inside out: the ids of what has the focus in a panel, and of what that stands in.
function placesOf(node, target) {
  const ids = [];
  for (let at = node; target.contains(at); at = at.parentElement) if (at.id) ids.push(at.id);
  return ids;
}
document.body.addEventListener("htmx:beforeRequest", ({ detail: { xhr } }) => asked.set(xhr, document.activeElement));
document.body.addEventListener("htmx:afterRequest", ({ detail: { xhr, successful } }) => {
  if (!successful && document.activeElement === document.body) asked.get(xhr)?.focus();
});
document.body.addEventListener("htmx:beforeSwap", ({ detail: { target, xhr } }) => {
  const open = [...target.querySelectorAll("details[open][id]")].map((node) => node.id);
  kept.set(target, { open, places: placesOf(active(xhr), target) });
});
document.body.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  const { open, places } = kept.get(target) ?? {};
  kept.delete(target);
  for (const id of open ?? []) document.getElementById(id)?.setAttribute("open", "");
  // Only now, as nothing in closed details can have it. What had it may be gone, and what it stood in still be there.
  for (const id of places ?? []) {
    const place = document.querySelector(`details#${CSS.escape(id)} > summary`) ?? document.getElementById(id);
    place?.focus({ preventScroll: true });
    if (place && place === document.activeElement) break;
  }
});
// The same for what comes along with the answer to another request.
document.body.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  for (const open of target.querySelectorAll("details[open][id]")) fragment.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute("open", "");
});
