"""What passages mean: the vector of each by a model, and how far a conversation has got with it."""

from __future__ import annotations

from django.db import models


class PassageVector(models.Model):
    """Unit length, 16-bit floats in the order of the machine that matters least: little-endian."""

    passage = models.ForeignKey("Passage", models.CASCADE, related_name="vectors", db_index=False)
    session = models.ForeignKey("Session", models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=300, help_text="Where it is asked, its name, its dimension.")
    vector = models.BinaryField()

    class Meta:
        ordering = ["passage"]
        constraints = [models.UniqueConstraint(fields=["passage", "model"], name="one_vector_per_passage_and_model")]
        indexes = [models.Index(fields=["session", "model", "passage"], name="vector_by_session")]

    def __str__(self) -> str:
        return f"vector of {self.passage_id}"


class VectorCodes(models.Model):
    """The signs of the vectors of passages that follow each other in a conversation: by them the nearest of all that
    an owner has are chosen, without reading the vectors."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=300)
    last = models.BigIntegerField(help_text="Id of the last of the passages.")
    passages = models.BinaryField(help_text="Their ids, 64-bit integers.")
    codes = models.BinaryField(
        help_text="A bit for each number of a vector, 1 above zero; as many 64-bit words as needed."
    )

    class Meta:
        verbose_name_plural = "vector codes"
        constraints = [models.UniqueConstraint(fields=["session", "model", "last"], name="codes_of_session")]

    def __str__(self) -> str:
        return f"codes through {self.last}"


class VectorIndex(models.Model):
    """Of one conversation. Passages have vectors in the order of their ids: those up to `through` have one."""

    session = models.OneToOneField("Session", models.CASCADE, primary_key=True, related_name="vector_index")
    name = models.CharField(max_length=250, help_text="Of the model that is asked; `model` has the dimension as well.")
    model = models.CharField(max_length=300, blank=True)
    through = models.BigIntegerField(default=0, help_text="Id of the last passage that has a vector.")
    passages = models.PositiveIntegerField(default=0, help_text="That have one.")
    tokens = models.PositiveBigIntegerField(
        default=0, help_text="Sent for them, as the model counts or as counted here."
    )
    fault = models.TextField(blank=True, help_text="Why the last request came to nothing.")
    held_until = models.DateTimeField(null=True, blank=True, help_text="Some process has asked, or waits, until then.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "vector indexes"

    def __str__(self) -> str:
        return f"{self.passages} vectors by {self.name}"
