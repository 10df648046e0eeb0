"""What has to be there before anything serves: folders, keys, tables, static files, somebody who may sign in (D-48).

The second time each step finds its work done, which takes a fraction of a second in all.
"""

from apps.base.keyring import ensure_keyring
from apps.instance.serving.first_access import FirstAccess, ensure_first_access
from apps.instance.serving.folders import prepare_folders
from apps.instance.serving.secret_key import begin_anew_with_the_key, ensure_secret_key
from apps.instance.serving.static_files import gather_static_files
from apps.instance.serving.tables import migrate
from apps.leases.locks import first_start_lock


def prepare() -> None:
    """Make folders and keys; everything after this can rely on them."""
    prepare_folders()
    with first_start_lock():
        ensure_secret_key()
        ensure_keyring()
    begin_anew_with_the_key()


def first_start() -> FirstAccess:
    """Make what is missing, once, whoever starts at the same time; answer what must be told to the operator."""
    with first_start_lock():
        gather_static_files()
        migrate()
        return ensure_first_access()
