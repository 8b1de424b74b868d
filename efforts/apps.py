"""Sessions, turns, efforts, and everything the model sees."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class EffortsConfig(AppConfig):
    name = "efforts"
    verbose_name = pgettext_lazy("admin", "Efforts")
    default_auto_field = "django.db.models.BigAutoField"
