"""Sessions, turns, efforts, and everything the model sees."""

from django.apps import AppConfig


class EffortsConfig(AppConfig):
    name = "efforts"
    default_auto_field = "django.db.models.BigAutoField"
