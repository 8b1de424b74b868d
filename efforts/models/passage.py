"""The index of what was said: passages with their terms, and in how many passages of a session a term stands.

What the databases keep to find a passage by its terms is made by migration 0009: PostgreSQL an index, SQLite a table
that follows `Passage` by triggers. A later migration that makes the table anew must make the triggers anew.
"""

from __future__ import annotations

from django.db import models


class Passage(models.Model):
    """A piece of a message; its id is 10,000 times the message's and its place there."""

    # Given, never counted on; of this kind because SQLite then keeps no index beside its row number.
    id = models.BigAutoField(primary_key=True)
    session = models.ForeignKey("Session", models.CASCADE, related_name="passages", db_index=False)
    message = models.ForeignKey("Message", models.CASCADE, related_name="passages")
    start = models.PositiveIntegerField(help_text="Characters of the message's text, up to `end`.")
    end = models.PositiveIntegerField()
    length = models.PositiveIntegerField(help_text="Terms.")
    scope = models.CharField(max_length=60, help_text="Session and owner, in words that no term can equal.")
    terms = models.TextField(help_text="In their order, a space before and after each.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["session", "id"], name="passage_by_session")]

    def __str__(self) -> str:
        return f"passage {self.pk}"


class Frequency(models.Model):
    """In how many passages of a session a term stands; the empty term in all."""

    pk = models.CompositePrimaryKey("session", "term")
    session = models.ForeignKey("Session", models.CASCADE, related_name="frequencies", db_index=False)
    term = models.CharField(max_length=64)
    passages = models.PositiveIntegerField()

    class Meta:
        # For the terms of all of an owner's sessions.
        indexes = [models.Index(fields=["term"], name="frequency_by_term")]

    def __str__(self) -> str:
        return f"{self.term}: {self.passages}"
