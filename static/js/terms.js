// What pages mean by their words, for the sheet under "?".

export const TERMS = [
  ["turn", "Your message and everything that answers it."],
  ["log", "Every word that was said, kept as it was said."],
  ["prompt", "What the model is sent with a message; it never exceeds the budget."],
  ["plan", "What one call of a model was sent, what was left out, and why."],
  ["effort", "A piece of work with a name: open, concluded or expanded."],
  ["summary", "What replaces the log of a concluded effort in the prompt."],
  ["claim", "One statement of a summary, with the sentences of the log that it comes from."],
  ["excerpts", "Quotations that replace a log where no summary was drafted."],
  ["rule", "Words of yours that stand in every prompt."],
  ["pin", "What stays in the prompt for some turns, or until you unpin it."],
  ["recall", "Earlier passages that are found and quoted because a message needs them."],
  ["branch", "Another line of the conversation, as after editing a message."],
];
