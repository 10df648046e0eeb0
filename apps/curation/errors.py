from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError, NotFound


class JobUnknown(NotFound):
    sentence = _("There is no curation job {job_id} here.")
    hint = _("curation_history lists those there are.")


class DocumentUnknown(NotFound):
    sentence = _("There is no curated document {document} here.")
    hint = _("curated_document_list names those there are; curation_run makes them.")


class CurationPending(MemRelayError):
    """A curation of the same scope waits already, and the caller did not say to reuse or replace it."""

    code = "CURATION_PENDING"
    status = 409
    sentence = _("A curation of this workspace is already waiting: {job_id}.")
    hint = _("Wait for it, or call again with pending_policy reuse or replace.")


class NotCancellable(MemRelayError):
    code = "CURATION_NOT_CANCELLABLE"
    status = 409
    sentence = _("The curation {job_id} is {state} and can no longer be cancelled.")
    hint = _("What it wrote is a revision like any other: the one before it stays in the history.")


class NotRetryable(MemRelayError):
    code = "CURATION_NOT_RETRYABLE"
    status = 409
    sentence = _("The curation {job_id} is {state}; only a failed or cancelled one can be tried again.")
    hint = _("curation_run starts a new one.")


class OriginalConfigGone(MemRelayError):
    code = "ORIGINAL_CONFIG_GONE"
    status = 409
    sentence = _("The model connection this curation used is not there any more.")
    hint = _("Leave use_original_config out: the current connection is used.")


class AnswerRejected(MemRelayError):
    """The model's answer has the right structure and must not be applied all the same (D-17)."""

    code = "CURATION_ANSWER_REJECTED"
    status = 409
    sentence = _("The model's answer was not applied: {problem}.")
    hint = _("Nothing was changed. It is tried again with less at once; another model may do better.")


class SecretInAnswer(AnswerRejected):
    code = "SECRET_IN_OUTPUT"
    sentence = _("The model's answer was not applied: it holds something that looks like a secret, in {places}.")
    hint = _("Nothing was changed. Look for a secret in the sources; memory_update takes it out.")


class GaveUp(MemRelayError):
    """Attempts that die without a word must end some day."""

    code = "CURATION_INTERRUPTED"
    status = 409
    sentence = _("It was interrupted {count} times without an end.")
    hint = _("Look into the server's log, then call curation_retry.")


class Cancelled(Exception):
    """Somebody asked for the job to be cancelled: the attempt ends here, and nothing of it stays."""
