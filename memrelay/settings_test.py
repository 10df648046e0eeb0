"""Settings of the fast tests: a data folder of their own, plain static files, cheap passwords."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("MEMRELAY_DATA", tempfile.mkdtemp(prefix="memrelay-tests-"))
os.environ["MEMRELAY_SECRET_KEY"] = "a key of the tests alone, and long enough"  # noqa: S105

from memrelay.settings import *  # noqa: F403
from memrelay.settings import DATABASES, LOGGING, Q_CLUSTER

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True  # Static files need not have been gathered.
# Pages take static files from their sources; nothing is gathered, and none of it is missed.
WHITENOISE_AUTOREFRESH = WHITENOISE_USE_FINDERS = True
DATABASES["default"]["CONN_MAX_AGE"] = 0
DATABASES["default"]["TEST"] = {"NAME": str(Path(os.environ["MEMRELAY_DATA"]) / "test.sqlite3")}
Q_CLUSTER["sync"] = False
LOGGING["root"]["level"] = "ERROR"
EMBEDDING = "off"  # Tests that search by meaning switch a tiny model on.
