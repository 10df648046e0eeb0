"""Why there is no vector."""

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class EmbeddingUnavailable(MemRelayError):
    """The configured model cannot be loaded or does not answer."""

    code = "EMBEDDING_UNAVAILABLE"
    status = 503
    sentence = _("The embedding model cannot be used.")
    hint = _("Text search goes on without it. docs/embeddings.md says what each setting needs.")


class EmbedderUnavailable(MemRelayError):
    """The embedder process is not there, is still loading its model, or did not answer in time.

    ``reason`` is ``not_running``, ``timeout``, ``failed``, or what the embedder answered: ``embedder_starting``,
    ``embedding_unavailable`` (the model cannot be loaded; the message says why), ``failed``.
    """

    code = "EMBEDDER_UNAVAILABLE"
    status = 503
    retryable = True
    sentence = _("The embedder does not answer.")
    hint = _("Text search goes on without it; it is started by the worker of manage.py serve.")

    @property
    def reason(self) -> str:
        return str(self.facts.get("reason", "failed"))
