// What pages mean by their words, for the sheet under "?": each before its colon, here and in translations.

export const TERMS = [
  "Turn: your message and everything that answers it.",
  "Log: every word that was said, kept as it was said.",
  "Prompt: what the model is sent with a message. It never exceeds the budget.",
  "Plan: what one call of a model was sent, what was left out, and why.",
  "Effort: a piece of work with a name. It is open, waiting for its summary, concluded or expanded.",
  "Summary: what replaces the log of a concluded effort in the prompt.",
  "Claim: one statement of a summary, with the sentences of the log that it comes from.",
  "Excerpts: quotations that replace a log where no summary does: none was drafted, or it was blocked or rolled back.",
  "Rule: words of yours that are in every prompt.",
  "Pin: what stays in the prompt for some turns, or until you unpin it.",
  "Recall: earlier passages that are found and quoted because a message needs them.",
  "Branch: another line of the conversation, as after editing a message.",
];
