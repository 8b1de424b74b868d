"""What check and gates are worth: on annotated scopes, good summaries and planted mistakes, by recorded answers."""
