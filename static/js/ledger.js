// The page of the ledger: what is done to an entry or a rule, and the page is read again in place.

import { post, whyNot } from "./http.js";
import { alert } from "./status.js";

document.addEventListener("submit", async (event) => {
  const { target } = event;
  if (!target.matches("[data-act]")) return;
  event.preventDefault();
  const answer = await post(target.action, {});
  if (!answer.ok) alert(whyNot(answer));
  document.body.dispatchEvent(new Event("ledger"));
});
