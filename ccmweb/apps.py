"""The project as an app: sign-in, health, checks, commands."""

from django.apps import AppConfig


class CcmwebConfig(AppConfig):
    name = "ccmweb"
    verbose_name = "CCM Web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # For what they register: system checks, and receivers of sign-ins.
        from ccmweb import checks, language, sign_in  # noqa: F401
