"""By which rules an artifact fails, in words for people."""

from __future__ import annotations

from ..verdicts import Gate

RULES: dict[Gate, dict[str, str]] = {
    Gate.STRUCTURE: {
        "incomplete": "The model did not say all it had to say",
        "malformed": "What was offered is no draft or artifact",
        "no_artifact": "No artifact was made of what was offered",
        "other_artifact": "The artifact says something else than what was offered",
    },
    Gate.TRACEABILITY: {
        "no_quotation": "Quotes nothing that the source has",
        "forged_quotation": "Quotes what is not in that place of the source",
        "short_quotation": "Quotes too little to mean something",
        "not_quoted": "Names a number, path or name that it does not quote",
        "other_matter": "Quotes something else",
        "no_item": "A sentence of the headline that no item backs",
        "not_in_items": "A sentence of the headline names what its items do not",
        "not_backed": "A sentence of the headline whose items speak of something else",
        "not_so": "The headline says that nothing was decided or is open, and there is something",
        "not_in_source": "Details that the source does not have",
        "nothing_said": "Nothing that could be traced",
        "other_source": "Made from another source text",
        "forged_opening": "The opening is not in the source",
        "forged_evidence": "Evidence that is not in the source",
    },
    Gate.RETENTION: {
        "lost_decision": "A decision that no item keeps",
        "lost_open_work": "Open work that no item keeps",
        "lost_constraint": "A rule that no item holds word for word",
        "missed_candidate": "What may be a decision, open work or a rule, and is not quoted",
    },
    Gate.CONTRADICTION: {
        "not_current": "Superseded or rejected, and told as current",
        "not_dropped": "Current, and told as superseded or rejected",
        "other_state": "Open told as done, or done as open",
        "other_actor": "Put down to somebody who said none of it",
        "other_person": "Says who decided or proposed, and quotes nothing of theirs",
        "other_value": "Another value than in what it quotes",
        "other_count": "Another number beside the same word than in what it quotes",
        "corrected_later": "A value that was corrected later",
        "denied": "Says the opposite of what it quotes",
        "other_modality": "More or less binding than what it quotes",
        "other_scope": "Of more or fewer than what it quotes",
        "other_order": "Before told as after, or the other way round",
        "tool_says_otherwise": "Claims a success where a tool returned a failure",
        "both_statuses": "Two items tell the same with statuses that exclude each other",
        "opposite_items": "One item says what another denies",
        "values_of_items": "Two items have different values for the same",
        "judge": "A judge found it, and the source has the words",
    },
    Gate.COST: {
        "no_cap": "No cap on tokens",
        "no_timeout": "No timeout",
        "no_usage": "What a request used is not known",
        "over_cap": "More tokens than the cap",
        "too_long": "Longer than the timeout",
        "slow_runs": "The last runs were slower than the timeout",
        "not_smaller": "Not smaller than its source",
        "negative": "A count below zero",
    },
}
