"""What was said is indexed and found again."""
