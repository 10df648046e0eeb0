"""What can go wrong with the model, and what it means for the work that wanted it.

No message quotes the endpoint or the model: an endpoint may echo the token, a model anything at all.
"""

from enum import StrEnum
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError


class Consequence(StrEnum):
    """What becomes of a job whose model call failed."""

    WAIT = "wait"  # The model is away for a while: the job waits and is woken (D-13: in no counter).
    CONFIGURE = "configure"  # Somebody has to mend the connection: the job waits and is woken.
    PAUSE = "pause"  # A cap is reached: the job pauses, its cursor stays (D-15).
    FAIL = "fail"  # The answer itself is no good: the job fails.


class ModelError(MemRelayError):
    """Any failure of a model call."""

    status = 503
    consequence: ClassVar[Consequence] = Consequence.FAIL
    worth_retrying: ClassVar[bool] = False  # The same request may succeed within seconds.

    def __init__(self, *, http_status: int | None = None, **facts: Any) -> None:
        super().__init__(**facts)
        self.http_status = http_status


class ModelUnavailable(ModelError):
    """The endpoint is away, overloaded or interrupted; ``seconds`` says when to look again, where it is known."""

    consequence = Consequence.WAIT
    worth_retrying = True


class ModelUnreachable(ModelUnavailable):
    code = "MODEL_UNREACHABLE"
    sentence = _("The model endpoint cannot be reached.")
    hint = _("Check the address and the network. Work that needs the model waits and goes on by itself.")


class ModelTimedOut(ModelUnavailable):
    code = "MODEL_TIMED_OUT"
    sentence = _("The model endpoint did not answer in time.")
    hint = _(
        "A larger request_timeout_seconds helps slow models. Work that needs the model waits and goes on by itself."
    )


class ModelStreamCut(ModelUnavailable):
    code = "MODEL_STREAM_CUT"
    sentence = _("The connection to the model endpoint broke before the answer was whole.")
    hint = _("Nothing of it was used. Work that needs the model waits and goes on by itself.")


class ModelRateLimited(ModelUnavailable):
    code = "MODEL_RATE_LIMITED"
    sentence = _("The model endpoint has had enough requests for now, or its quota is used up.")
    hint = _("Work that needs the model waits and goes on by itself; look at your account there if it stays like this.")

    def __init__(self, *, quota_is_gone: bool = False, **facts: Any) -> None:
        super().__init__(**facts)
        self.quota_is_gone = quota_is_gone


class ModelServerFailed(ModelUnavailable):
    code = "MODEL_SERVER_FAILED"
    sentence = _("The model endpoint failed at the request.")
    hint = _("Work that needs the model waits and goes on by itself.")


class ModelAnswerUnreadable(ModelUnavailable):
    """No answer of the protocol: a sign-in page, a broken stream, something else altogether."""

    code = "MODEL_ANSWER_UNREADABLE"
    sentence = _("What the model endpoint sent is no answer of the protocol.")
    hint = _("A proxy in between may have answered. Check the address if it stays like this.")


class ModelMisconfigured(ModelError):
    """Nothing gets better until an administrator changes the connection."""

    status = 409
    consequence = Consequence.CONFIGURE


class ModelNotConfigured(ModelMisconfigured):
    code = "MODEL_NOT_CONFIGURED"
    sentence = _("No model is connected.")
    hint = _("An administrator connects one with curation_model_connection_save; everything else works without it.")


class ModelNotVerified(ModelMisconfigured):
    code = "MODEL_NOT_VERIFIED"
    sentence = _("The model connection did not pass its test.")
    hint = _("curation_model_connection_status tells what it failed at.")


class ModelAuthFailed(ModelMisconfigured):
    code = "MODEL_AUTH_FAILED"
    sentence = _("The model endpoint refused the token.")
    hint = _("Save the connection with a valid token and test it.")


class ModelNotFound(ModelMisconfigured):
    code = "MODEL_NOT_FOUND"
    sentence = _("The model endpoint does not know the model.")
    hint = _("curation_model_list names those it offers.")


class ModelProtocolUnsupported(ModelMisconfigured):
    code = "MODEL_PROTOCOL_UNSUPPORTED"
    sentence = _("The model endpoint does not speak the protocol at this address.")
    hint = _("Check the base URL; it often ends in /v1. Choose the protocol auto to try both.")


class ModelStructureUnsupported(ModelMisconfigured):
    code = "MODEL_STRUCTURE_UNSUPPORTED"
    sentence = _("The model does not answer in the structure it is asked for.")
    hint = _("Choose a model that follows a JSON schema.")


class ModelRedirected(ModelMisconfigured):
    code = "MODEL_REDIRECTED"
    sentence = _("The model endpoint redirects to another address.")
    hint = _("Redirects are not followed, the token would go along. Save the final address as the base URL.")


class ModelRequestRejected(ModelError):
    """A request the endpoint understood and did not want; ``param`` is the name it complained about."""

    code = "MODEL_REQUEST_REJECTED"
    status = 409
    sentence = _("The model endpoint rejected the request.")
    hint = _("Test the connection: it finds out which parameters the endpoint takes.")

    def __init__(self, *, complaint: str = "", **facts: Any) -> None:
        super().__init__(**facts)
        self.complaint = complaint  # Looked at for names of parameters, and never shown.


class ModelContextTooLong(ModelError):
    code = "MODEL_CONTEXT_TOO_LONG"
    status = 413
    sentence = _("The request is longer than the model takes.")
    hint = _("Send less at once, or raise the connection's token limits if the model takes more.")


class ModelRefused(ModelError):
    code = "MODEL_REFUSED"
    status = 409
    sentence = _("The model refused to answer.")
    hint = _("Its service has rules about content; another model may answer.")


class OutputProblem(StrEnum):
    EMPTY = "empty"
    PROSE = "prose"
    BROKEN_JSON = "broken_json"
    CUT_OFF = "cut_off"
    SCHEMA_ECHOED = "schema_echoed"
    WRONG_FIELDS = "wrong_fields"


class ModelOutputInvalid(ModelError):
    """The model's words are not the structure that was asked for. Nothing of them is used (D-17)."""

    code = "MODEL_OUTPUT_INVALID"
    status = 409
    sentence = _("The model's answer does not have the structure that was asked for ({problem}).")
    hint = _("Nothing was changed. Try again, with less at once, or choose another model.")

    def __init__(self, problem: OutputProblem, *, text: str = "", fields: list[str] | None = None) -> None:
        super().__init__(problem=problem.value, fields=fields or [])
        self.problem = problem
        self.text = text  # For one attempt at repair, and never shown.


class BudgetReached(ModelError):
    code = "BUDGET_REACHED"
    status = 409
    consequence = Consequence.PAUSE
    sentence = _("The tokens of this {period} are used up here: {used} of {cap} used, {needed} needed.")
    hint = _("It goes on with the next {period}. An administrator can raise {setting}.")


class ModelConnectionChanged(MemRelayError):
    code = "MODEL_CONNECTION_CHANGED"
    status = 409
    sentence = _("Somebody else has changed the model connection; its revision is now {revision}.")
    hint = _("Read curation_model_connection_status and save again with that revision.")


def known_error(code: str, **facts: Any) -> ModelError | None:
    """A failure of the past, from the code that was kept of it."""
    kind = _BY_CODE.get(code)
    return kind(**facts) if kind else None


_BY_CODE: dict[str, type[ModelError]] = {
    kind.code: kind
    for kind in (
        ModelUnreachable,
        ModelTimedOut,
        ModelStreamCut,
        ModelRateLimited,
        ModelServerFailed,
        ModelAnswerUnreadable,
        ModelNotConfigured,
        ModelNotVerified,
        ModelAuthFailed,
        ModelNotFound,
        ModelProtocolUnsupported,
        ModelStructureUnsupported,
        ModelRedirected,
        ModelRequestRejected,
        ModelContextTooLong,
        ModelRefused,
    )
}
