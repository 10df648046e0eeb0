"""The data folder: nobody but its owner may look into it."""

import os
from pathlib import Path

from django.conf import settings

PRIVATE = 0o700


def prepare_folders() -> None:
    """Make the folders of the data folder, all of them 0700, and let new files be 0600."""
    os.umask(0o077)
    data = Path(settings.DATA_FOLDER)
    data.mkdir(parents=True, exist_ok=True)
    if data.stat().st_mode & 0o777 != PRIVATE:
        data.chmod(PRIVATE)
    for folder in (
        settings.MEMORIES_FOLDER,
        Path(settings.DATABASE_FILE).parent,
        settings.RUN_FOLDER,
        settings.KEYS_FOLDER,
        settings.TEMPORARY_FOLDER,
    ):
        Path(folder).mkdir(mode=PRIVATE, parents=True, exist_ok=True)
