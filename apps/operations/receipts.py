"""Receipts: a caller's own request id makes a deed happen once, whichever door it comes through and however often (L-20)."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError
from apps.operations.caller import Caller
from apps.operations.models import RequestReceipt


class RequestIdReused(MemRelayError):
    code = "REQUEST_ID_REUSED"
    status = 409
    sentence = _("The request id {request_id} was already used for something else.")
    hint = _("Use a new request id for a new deed; repeat a deed with exactly the same arguments.")


def find(caller: Caller, operation: str, request_id: str, arguments: Mapping[str, Any]) -> RequestReceipt | None:
    """The receipt of an earlier call with this id. Raises ``RequestIdReused`` if that call was another one."""
    if not request_id:
        return None
    receipt = RequestReceipt.objects.filter(profile=caller.profile, request_id=request_id).first()
    if receipt is None:
        return None
    if receipt.operation != operation or receipt.arguments_digest != digest_of(arguments):
        raise RequestIdReused(request_id=request_id)
    return receipt


def keep(
    caller: Caller,
    operation: str,
    request_id: str,
    arguments: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
    *,
    job_id: str = "",
) -> None:
    """Store the receipt in the deed's own transaction; without a request id there is nothing to store.

    Two calls at once with the same id: the second's transaction fails on the unique constraint and writes nothing.
    """
    if request_id:
        RequestReceipt.objects.create(
            profile=caller.profile,
            request_id=request_id,
            operation=operation,
            arguments_digest=digest_of(arguments),
            answer=answer,
            job_id=job_id,
        )


def complete(job_id: str, answer: Mapping[str, Any]) -> None:
    """Fill in the answer of a deed that a job has finished."""
    RequestReceipt.objects.filter(job_id=job_id, answer__isnull=True).update(answer=answer)


def digest_of(arguments: Mapping[str, Any]) -> str:
    told = json.dumps(arguments, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()
