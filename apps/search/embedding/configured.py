"""What MEMRELAY_EMBEDDING may say: ``default``, ``endpoint``, a folder of this machine, or a name that fastembed knows."""

from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from apps.search.embedding import default_key, endpoint_key, folder_key, named_key
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.model import EmbeddingModel

LOCAL = "apps.search.embedding.local"


def current_key() -> str:
    match settings.EMBEDDING:
        case "default":
            return default_key.KEY
        case "endpoint":
            return endpoint_key.current()
        case folder if Path(folder).is_absolute():
            return folder_key.current(Path(folder))
        case name:
            return named_key.of(name)


def load() -> EmbeddingModel:
    """What is imported here is heavy, and only what was chosen is imported."""
    match settings.EMBEDDING:
        case "default":
            loaded = import_module(LOCAL).load_default()
        case "endpoint":
            loaded = import_module("apps.search.embedding.endpoint").load_endpoint()
        case folder if Path(folder).is_absolute():
            loaded = import_module("apps.search.embedding.folder").load_folder(Path(folder))
        case name if "/" in name:
            loaded = import_module("apps.search.embedding.named").load_named(name)
        case name:
            raise EmbeddingUnavailable(_("MEMRELAY_EMBEDDING says {value}, which is no model.").format(value=name))
    model: EmbeddingModel = loaded
    return model


def fault() -> str:
    """What the setting lacks to ever work, as far as can be told without loading; empty where nothing."""
    match settings.EMBEDDING:
        case "off" | "default":
            return ""
        case "endpoint":
            is_told = settings.EMBEDDING_URL.startswith(("http://", "https://")) and settings.EMBEDDING_MODEL
            return (
                ""
                if is_told
                else _("It says endpoint: that needs MEMRELAY_EMBEDDING_URL and MEMRELAY_EMBEDDING_MODEL.")
            )
        case name if "/" in name:
            return ""
        case _:
            return _("It is neither default, off nor endpoint, no absolute folder, and no name with a slash.")
