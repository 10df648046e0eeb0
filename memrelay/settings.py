"""Django's settings, and the only reader of the environment. What an operator can set stands in ``options.py``."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.utils.translation import gettext_lazy as _

from memrelay.options import OPTIONS

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
_options = {option.name: option for option in OPTIONS}
_texts = environ.Env(**{option.name: (option.kind, option.default) for option in OPTIONS})
environ.Env.read_env(PROJECT_FOLDER / ".env")
SETTING_FAULTS: list[tuple[str, type, float, float]] = []  # Name, kind, least and most of each that cannot work.


def env(name: str) -> Any:
    """What the operator set. Where it cannot work the default stands in, until the check refuses the start and names it."""
    option = _options[name]
    if option.kind in (str, list):
        return _texts(name)
    try:
        return option.understood(os.environ.get(name, ""))
    except (ValueError, OverflowError):
        SETTING_FAULTS.append((name, option.kind, option.least, option.most))
        return option.default


# onnxruntime sends what it runs to its maker unless it is told not to before it is imported; the hub's client likewise.
os.environ.update(ORT_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_TELEMETRY="1")

VERSION = "0.1.0"
DEBUG = env("MEMRELAY_DEBUG")

# Where data lies (architecture, section 5).
DATA_FOLDER = (PROJECT_FOLDER / env("MEMRELAY_DATA")).resolve()
MEMORIES_FOLDER = DATA_FOLDER / "basic-memory" / "memories"
STATE_FOLDER = DATA_FOLDER / "memrelay"
DATABASE_FILE = STATE_FOLDER / "db" / "memrelay.sqlite3"
RUN_FOLDER = STATE_FOLDER / "run"
KEYS_FOLDER = STATE_FOLDER / "keys"
TEMPORARY_FOLDER = STATE_FOLDER / "tmp"


def _secret_key() -> str:
    """The operator's key, else the one the first start made; commands before that get one that signs nothing."""
    if key := env("MEMRELAY_SECRET_KEY"):
        return str(key)
    file = KEYS_FOLDER / "secret_key"
    return file.read_text(encoding="ascii").strip() if file.exists() else "not-started-yet"


SECRET_KEY = _secret_key()
SECRET_KEY_GIVEN = bool(env("MEMRELAY_SECRET_KEY"))

# The web.
PUBLIC_URL = env("MEMRELAY_PUBLIC_URL").rstrip("/")
HOST, PORT = env("MEMRELAY_HOST"), env("MEMRELAY_PORT")
_public_host = urlsplit(PUBLIC_URL).hostname if PUBLIC_URL else None
EXTRA_HOSTS = env("MEMRELAY_ALLOWED_HOSTS")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *EXTRA_HOSTS, *([_public_host] if _public_host else [])]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
HTTPS = PUBLIC_URL.startswith("https://")
BEHIND_PROXY = env("MEMRELAY_BEHIND_PROXY")
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, LANGUAGE_COOKIE_NAME = "memrelay_session", "memrelay_csrf", "memrelay_language"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 31_536_000
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = env("MEMRELAY_BODY_LIMIT")
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"
    "; img-src 'self' data:"
)
WEB_PROCESSES, WEB_THREADS = env("MEMRELAY_WEB_PROCESSES"), env("MEMRELAY_WEB_THREADS")
BODY_LIMIT = env("MEMRELAY_BODY_LIMIT")
RATE_PER_MINUTE = env("MEMRELAY_RATE_PER_MINUTE")
SIGN_IN_TRIES, SIGN_IN_PAUSE_SECONDS = env("MEMRELAY_SIGN_IN_TRIES"), 900
STOP_SECONDS = env("MEMRELAY_STOP_SECONDS")
ACCESS_LOG = env("MEMRELAY_ACCESS_LOG")

INSTALLED_APPS = [
    "apps.instance.administration.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_q",
    "ninja",
    "apps.base",
    "apps.operations",
    "apps.changes",
    "apps.leases",
    "apps.search",
    "apps.secrets",
    "apps.llm",
    "apps.profiles",
    "apps.accounts",
    "apps.workspaces",
    "apps.memories",
    "apps.memory_git",
    "apps.sources",
    "apps.curation",
    "apps.context",
    "apps.recall",
    "apps.instance",
    "apps.console",
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "sign-in", "dashboard", "sign-in"

MIDDLEWARE = [
    "memrelay.middleware.request_identity",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memrelay.middleware.content_security_policy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memrelay.middleware.callers_zone",
]
ROOT_URLCONF = "memrelay.urls"
WSGI_APPLICATION = "memrelay.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PROJECT_FOLDER / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.console.context.console",
            ]
        },
    }
]

# One database file: a second one would let django-q2 lose rows silently (D-27). FULL: the commit is the durable point.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": DATABASE_FILE,
        "CONN_MAX_AGE": None,  # Threads are few and fixed (a2wsgi, the MCP pool); each keeps its connection.
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=134217728;"
                " PRAGMA journal_size_limit=27103364; PRAGMA cache_size=-20000;"
            ),
        },
    }
}
Q_CLUSTER = {
    "name": "memrelay",
    "orm": "default",
    "workers": 3 + env("MEMRELAY_CURATION_SLOTS"),  # L-28: the sum of the slots.
    "recycle": 1_000_000_000,  # Never: `serve` takes a worker that goes for one that was killed, and starts all anew.
    "timeout": 3600,
    "retry": 3660,
    "queue_limit": 8,
    "bulk": 4,
    "poll": 0.5,
    "max_attempts": 3,
    "ack_failures": True,
    "save_limit": 100,
    "catch_up": False,
    "log_level": "WARNING",
}
SLOTS = {"curation": env("MEMRELAY_CURATION_SLOTS"), "long": 1, "git": 1, "short": 1}

STATIC_URL = "static/"
STATIC_ROOT = PROJECT_FOLDER / "staticfiles"
STATICFILES_DIRS = [PROJECT_FOLDER / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

USE_TZ = True
TIME_ZONE = "UTC"
CALLER_ZONE = env("MEMRELAY_TIME_ZONE")
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LANGUAGE_GIVEN = env("MEMRELAY_LANGUAGE")  # A check names one that is unknown; with it Django could not even start.
LANGUAGE_CODE = LANGUAGE_GIVEN if LANGUAGE_GIVEN in dict(LANGUAGES) else "en"
LOCALE_PATHS = [PROJECT_FOLDER / "locale"]

# What the rooms tell each other without knowing each other: visible lists, called in this order.
CHANGE_LISTENERS: list[str] = [
    "apps.memories.listeners.follow_workspaces",
    "apps.memory_git.listeners.queue_commit",
    "apps.recall.listeners.forget_deleted",
]
DEPENDENCY_LISTENERS: list[str] = ["apps.curation.listeners.model_is_back"]
# Each says how many jobs of its room wait for the model.
DEPENDENCY_WAITERS: list[str] = ["apps.curation.jobs.waiting_for_model"]
# What the keeper calls every few seconds: each rings for work of its room that waits, with a query or two.
KEEPER_BELLS = [
    "apps.memories.jobs.ring_for_waiting",
    "apps.llm.jobs.ring_if_due",
    "apps.search.embedding.bells.wake_if_due",
    "apps.curation.jobs.ring_for_waiting",
    "apps.memory_git.jobs.ring_for_waiting",
    "apps.recall.sessions.forget_old_sessions",
]
JOB_DOINGS = {
    "import": "apps.memories.transfer.importing.run_import",
    "export": "apps.memories.transfer.exporting.run_export",
    "delete": "apps.instance.workspaces_jobs.run_deletion",
    "merge": "apps.instance.workspaces_jobs.run_merging",
}
SECRET_VALUE_SOURCES: list[str] = []
FEATURE_SWITCHES: dict[str, str] = {
    "CURATION": "apps.curation.switch.is_enabled",
    "MEMORY_GIT": "apps.memory_git.switch.is_enabled",
}
TOOLS_SERVED = "memrelay.mcp.rooms_tools"

# Limits (documented in options.py).
BODY_CHARACTERS = env("MEMRELAY_BODY_CHARACTERS")
TITLE_CHARACTERS = env("MEMRELAY_TITLE_CHARACTERS")
SUMMARY_CHARACTERS = env("MEMRELAY_SUMMARY_CHARACTERS")
TAGS = env("MEMRELAY_TAGS")
SAVE_MANY = env("MEMRELAY_SAVE_MANY")
FOLDER_FILES = env("MEMRELAY_FOLDER_FILES")
CONTEXT_TOKENS = env("MEMRELAY_CONTEXT_TOKENS")
SAVE_RELATED, INDEX_CHARACTERS = env("MEMRELAY_SAVE_RELATED"), env("MEMRELAY_INDEX_CHARACTERS")
SEARCH_LIMIT = env("MEMRELAY_SEARCH_LIMIT")
SEARCH_TEXT_WEIGHT, SEARCH_THREAD_WEIGHT = env("MEMRELAY_SEARCH_TEXT_WEIGHT"), env("MEMRELAY_SEARCH_THREAD_WEIGHT")
SEARCH_MEANING_FLOOR, SEARCH_DEPTH = env("MEMRELAY_SEARCH_MEANING_FLOOR"), env("MEMRELAY_SEARCH_DEPTH")
SEARCH_FOLD = env("MEMRELAY_SEARCH_FOLD")
RECALL, RECALL_MIN_SCORE = env("MEMRELAY_RECALL"), env("MEMRELAY_RECALL_MIN_SCORE")
RECALL_MEMORIES, RECALL_CHARACTERS = env("MEMRELAY_RECALL_MEMORIES"), env("MEMRELAY_RECALL_CHARACTERS")
RECALL_MILLISECONDS, RECALL_SESSION_DAYS = env("MEMRELAY_RECALL_MILLISECONDS"), env("MEMRELAY_RECALL_SESSION_DAYS")
SCAN_SECONDS = env("MEMRELAY_SCAN_SECONDS")
SWEEP_SECONDS = env("MEMRELAY_SWEEP_SECONDS")
SETTLE_SECONDS = env("MEMRELAY_SETTLE_SECONDS")
VANISHED_FILES, VANISHED_PERCENT = env("MEMRELAY_VANISHED_FILES"), env("MEMRELAY_VANISHED_PERCENT")
FAULT_POINT = env("MEMRELAY_FAULT_POINT")
MODEL_DAY_TOKENS, MODEL_MONTH_TOKENS = env("MEMRELAY_MODEL_DAY_TOKENS"), env("MEMRELAY_MODEL_MONTH_TOKENS")
MODEL_PLAIN_HTTP, MODEL_RETRY_SECONDS = env("MEMRELAY_MODEL_PLAIN_HTTP"), env("MEMRELAY_MODEL_RETRY_SECONDS")
CURATION_RETRY_SECONDS = env("MEMRELAY_CURATION_RETRY_SECONDS")
SOURCE_CHARACTERS, SOURCE_TOKENS = env("MEMRELAY_SOURCE_CHARACTERS"), env("MEMRELAY_SOURCE_TOKENS")
GIT_PLAIN_HTTP, GIT_FILE_FOLDERS = env("MEMRELAY_GIT_PLAIN_HTTP"), env("MEMRELAY_GIT_FILE_FOLDERS")
GIT_FETCH_BYTES, GIT_RETRY_SECONDS = env("MEMRELAY_GIT_FETCH_BYTES"), env("MEMRELAY_GIT_RETRY_SECONDS")
IMPORT_FILE_BYTES, IMPORT_FOLDERS = env("MEMRELAY_IMPORT_FILE_BYTES"), env("MEMRELAY_IMPORT_FOLDERS")

# Embeddings (docs/embeddings.md).
EMBEDDING, EMBEDDING_DOWNLOAD = env("MEMRELAY_EMBEDDING"), env("MEMRELAY_EMBEDDING_DOWNLOAD")
EMBEDDING_URL, EMBEDDING_MODEL = env("MEMRELAY_EMBEDDING_URL"), env("MEMRELAY_EMBEDDING_MODEL")
EMBEDDING_KEY, EMBEDDING_DIMENSIONS = env("MEMRELAY_EMBEDDING_KEY"), env("MEMRELAY_EMBEDDING_DIMENSIONS")
EMBEDDER_IDLE_SECONDS = env("MEMRELAY_EMBEDDER_IDLE_SECONDS")
EMBEDDING_LOADER = "apps.search.embedding.configured"  # A module with ``current_key`` and ``load``.
# What the embedder process answers besides its own operations, what it does when nobody asks, and whether that waits.
EMBEDDER_OPERATIONS: dict[str, str] = {
    "question": "apps.search.vectors.serving.question",
    "nearest": "apps.search.vectors.serving.nearest",
}
EMBEDDER_WORK = "apps.search.vectors.working.work"
EMBEDDER_DUE = "apps.search.vectors.queue.is_due"
# Who tells of texts to embed, and how much.
PASSAGE_TEXTS: list[str] = ["apps.memories.passage_texts.texts_of"]
EMBEDDING_PASSAGES, SEMANTIC_TIMEOUT_MS = env("MEMRELAY_EMBEDDING_PASSAGES"), env("MEMRELAY_SEMANTIC_TIMEOUT_MS")

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request": {"()": "memrelay.logs.RequestFilter"}},
    "formatters": {"line": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request"]}},
    "root": {"handlers": ["stderr"], "level": env("MEMRELAY_LOG_LEVEL")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "mcp": {"level": "WARNING"},
        "openai": {"level": "WARNING"},  # Their debug lines hold whole requests.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        "paramiko": {"level": "CRITICAL"},  # It logs every refusal with a trace; the failure itself is told elsewhere.
        "django-q": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
    },
}
