"""Serve operations over REST: one line of a route table for each path."""

import re
from inspect import Parameter, Signature
from typing import Any

from django.http import HttpRequest
from ninja import Body, Query, Router, Status
from ninja.errors import ValidationError
from pydantic import BaseModel, ConfigDict, create_model

from apps.base.errors import Invalid
from apps.operations.operation import Arguments, Operation, invalid, sent_values

NAMES_IN_PATH = re.compile(r"{(?:\w+:)?(\w+)}")
SENT_IN_QUERY = {"GET", "DELETE"}


class ErrorFields(BaseModel):
    model_config = ConfigDict(title="ErrorFields")

    code: str
    message: str
    hint: str
    facts: dict[str, Any]


class ErrorOut(BaseModel):
    """The one shape of every refusal."""

    error: ErrorFields


REFUSALS = frozenset({400, 401, 403, 404, 409, 413, 422, 429, 500, 503})


def route(
    router: Router, method: str, path: str, operation: Operation[..., Any], *, status: int = 200, named: str = ""
) -> None:
    """Answer ``method path`` with an operation.

    Arguments named in the path come from the path; the others come from the query string of a GET or DELETE and from the
    JSON body of anything else. ``named`` is the second path's name, where an operation has two.
    """
    in_path = set(NAMES_IN_PATH.findall(path))
    rest = _without(operation.arguments, in_path)

    def view(request: HttpRequest, **given: Any) -> Status[Any]:
        if "sent" in given:
            given |= sent_values(given.pop("sent"))
        return Status(status, operation.answer_accepted(request.auth, given))  # type: ignore[attr-defined]

    fields = operation.arguments.model_fields
    parameters = [Parameter("request", Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [_keyword(name, fields[name].rebuild_annotation()) for name in sorted(in_path)]
    if rest.model_fields:
        parameters.append(_keyword("sent", (Query if method in SENT_IN_QUERY else Body)[rest]))
    view.__signature__ = Signature(parameters)  # type: ignore[attr-defined]

    router.add_api_operation(
        path,
        [method],
        view,
        response={status: operation.answers, REFUSALS: ErrorOut},
        operation_id=named or operation.name,
        summary=operation.summary,
        description=operation.manual,
    )


def refused_by_ninja(error: ValidationError) -> Invalid:
    """Ninja's refusal in our words: it says body.sent.title where we say title."""
    problems = [
        {**problem, "loc": problem["loc"][2 if problem["loc"][0] == "body" else 1 :]} for problem in error.errors
    ]
    return invalid(problems)


def _without(model: type[BaseModel], names: set[str]) -> type[BaseModel]:
    """The same model less some fields; pydantic has no such thing itself."""
    kept: dict[str, Any] = {
        name: (field.annotation, field) for name, field in model.model_fields.items() if name not in names
    }
    return create_model(model.__name__, __base__=Arguments, **kept)


def _keyword(name: str, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation)
