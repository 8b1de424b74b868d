"""One-time sign-in links."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SignInLink(models.Model):
    """Opens one session of one person, once. Only the hash of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="sign_in_links")
    token_sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"link of {self.user}, {self.created_at:%Y-%m-%d %H:%M}"


class ChosenLanguage(models.Model):
    """Of one person's pages; of who has none the browser says it."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="chosen_language")
    code = models.CharField(max_length=10)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.owner}: {self.code}"
