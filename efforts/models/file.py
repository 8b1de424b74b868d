"""What people add to their messages."""

from __future__ import annotations

import uuid

from django.db import models


class MessageFile(models.Model):
    """A file of one conversation: waiting in the composer, or sent with a message. Its bytes lie in `CCM_FILES_DIR`,
    by their hash; what a prompt has of it is the text of its message."""

    class Kind(models.TextChoices):
        TEXT = "text"
        PDF = "pdf"
        PICTURE = "picture"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey("Session", models.CASCADE, related_name="files")
    message = models.OneToOneField(
        "Message", models.CASCADE, null=True, blank=True, related_name="file", help_text="Empty until it is sent."
    )
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=7, choices=Kind.choices)
    media_type = models.CharField(max_length=60)
    size = models.PositiveBigIntegerField(help_text="Bytes that were added.")
    stored = models.PositiveBigIntegerField(help_text="Bytes that are kept.")
    sha256 = models.CharField(max_length=64, help_text="Of the bytes that are kept.")
    text = models.TextField(blank=True, help_text="What a prompt will have of it; once it is sent its message has it.")
    picture = models.CharField(max_length=100, blank=True)
    tokens = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_picture(self) -> bool:
        return self.kind == self.Kind.PICTURE
