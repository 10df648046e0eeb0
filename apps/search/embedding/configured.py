"""What MEMRELAY_EMBEDDING may say: ``default``, ``endpoint``, a folder of this machine, or a name that fastembed knows."""

from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from apps.search.embedding import default_key, endpoint_key, folder_key
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.model import EmbeddingModel

DEFAULT, ENDPOINT = "default", "endpoint"
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
            return f"fastembed/{name.lower()}"


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
