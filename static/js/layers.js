// From a layer's segment of a meter, or its line in the legend, down to its items.

import { showPanel } from "./app.js";

function placeOf(link) {
  const own = link.closest("#drawer, [data-plan]");
  if (own) return own;
  showPanel(true);
  return document.querySelector("#context, .page");
}

function leadDown(place, key) {
  const about = [...place.querySelectorAll(`li[data-section="${key}"]`)];
  for (const old of place.querySelectorAll(".lit")) old.classList.remove("lit");
  for (const node of about) node.classList.add("lit");
  const first = about.find((node) => node.matches(".item")) ?? about[0];
  if (!first) return;
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
  first.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-section]");
  if (!link) return;
  event.preventDefault();
  leadDown(placeOf(link), link.dataset.section);
});
