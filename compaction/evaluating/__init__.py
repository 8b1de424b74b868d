"""What the gates are worth: measured on annotated scopes, good artifacts, extractive drafts and planted defects."""
