"""One declaration for each thing a caller can do.

A service or a selector becomes an operation by saying what it needs and what shape it answers in. Its signature is its
input schema and its docstring is its manual: REST, MCP, the console and the command line all read them from here.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_args

from django.utils import timezone
from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator, model_validator
from pydantic_core import PydanticKnownError

from apps.base.errors import Denied, FeatureDisabled, Invalid
from apps.base.text import without_surrogates
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature, is_on
from apps.operations.messages import message_for

P = ParamSpec("P")
R = TypeVar("R")


LARGEST_NUMBER = 2**63 - 1  # What a column of SQLite holds.


class _Unchanged:
    def __repr__(self) -> str:
        return "UNCHANGED"


# The default of an argument that a caller may leave out, where null means something of its own ("none").
UNCHANGED: Any = _Unchanged()


class Effect(Enum):
    READS = "reads"
    ADDS = "adds"
    CHANGES = "changes"
    DESTROYS = "destroys"


class Arguments(BaseModel):
    """Base of every derived argument model: an unknown name is an error, not noise."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def leave_out_nulls(cls, raw: Any) -> Any:
        """Agents send null for "not given"; it means that, unless the argument itself may be null."""
        if not isinstance(raw, dict):
            return raw
        return {name: value for name, value in raw.items() if value is not None or cls._may_be_null(name)}

    @classmethod
    def _may_be_null(cls, name: str) -> bool:
        field = cls.model_fields.get(name)
        return field is None or field.is_required() or type(None) in get_args(field.annotation)

    @field_validator("*", mode="wrap")
    @classmethod
    def unpack_json_in_strings(cls, value: Any, validate: Callable[[Any], Any]) -> Any:
        """Some MCP clients send lists and objects as JSON inside a string."""
        value = storable(value)
        try:
            return validate(value)
        except ValidationError:
            if not (isinstance(value, str) and value.lstrip()[:1] in ("[", "{")):
                raise
            try:
                unpacked = storable(json.loads(value))
            except (ValueError, RecursionError):
                unpacked = value  # Not JSON after all: the first complaint stands.
            return validate(unpacked)


@dataclass(frozen=True, eq=False)
class Operation(Generic[P, R]):
    function: Callable[Concatenate[Caller, P], R]
    needs: Right
    answers: type[BaseModel]
    effect: Effect
    repeatable: bool  # Doing it twice does no more than doing it once.
    feature: Feature | None  # The switch that has to be on.

    def __call__(self, caller: Caller, *args: P.args, **kwargs: P.kwargs) -> R:
        """Do it. Every surface comes through here, so rights are checked once."""
        if self.needs not in caller.rights:
            raise Denied(verb=self.needs.value)
        if self.feature and not is_on(self.feature):
            raise FeatureDisabled(feature=self.feature.value)
        with timezone.override(caller.zone):
            return self.function(caller, *args, **kwargs)

    def perform(self, caller: Caller, raw: Mapping[str, Any]) -> R:
        """Do it with arguments from outside, once they have proved sound."""
        do: Callable[..., R] = self
        return do(caller, **sent_values(self.accept(raw)))

    def answer(self, caller: Caller, raw: Mapping[str, Any]) -> BaseModel:
        """Do it, and put the result in the shape that goes over a wire, its times in the caller's zone (D-25)."""
        return self.answer_accepted(caller, sent_values(self.accept(raw)))

    def answer_accepted(self, caller: Caller, arguments: Mapping[str, Any]) -> BaseModel:
        """The same with arguments that somebody else has checked against their types."""
        do: Callable[..., R] = self
        with timezone.override(caller.zone):
            return self.shape(do(caller, **arguments))

    def accept(self, raw: Mapping[str, Any]) -> BaseModel:
        """Check raw arguments. Raises ``Invalid`` naming each field that is not right."""
        try:
            return self.arguments.model_validate(raw)
        except ValidationError as error:
            raise invalid(error.errors(include_url=False)) from error

    def shape(self, result: R) -> BaseModel:
        """The answer's schema; a result that already is one is not validated again."""
        if isinstance(result, self.answers):
            return result
        return self.answers.model_validate(result, from_attributes=True)

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def manual(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @cached_property
    def summary(self) -> str:
        return self.manual.partition("\n")[0].rstrip(".")

    @cached_property
    def arguments(self) -> type[Arguments]:
        _caller, *parameters = inspect.signature(self.function, eval_str=True).parameters.values()
        fields: dict[str, Any] = {parameter.name: (parameter.annotation, _field(parameter)) for parameter in parameters}
        return create_model(_camel(self.name), __base__=Arguments, **fields)


OPERATIONS: dict[str, Operation[..., Any]] = {}


def operation(
    *,
    needs: Right,
    answers: type[BaseModel],
    effect: Effect = Effect.READS,
    repeatable: bool = False,
    feature: Feature | None = None,
) -> Callable[[Callable[Concatenate[Caller, P], R]], Operation[P, R]]:
    """Declare a service or a selector as something callers can do."""

    def declare(function: Callable[Concatenate[Caller, P], R]) -> Operation[P, R]:
        declared = Operation(function, needs, answers, effect, repeatable or effect is Effect.READS, feature)
        if OPERATIONS.setdefault(declared.name, declared) is not declared:
            raise ValueError(f"Two operations are called {declared.name}.")
        return declared

    return declare


def storable(value: Any) -> Any:
    """The same value without what no column and no file can hold: halves of a character, numbers past 64 bits."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return without_surrogates(value)
    elif isinstance(value, int) and not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise PydanticKnownError("int_parsing_size")
    elif isinstance(value, list):
        return [storable(part) for part in value]
    elif isinstance(value, dict):
        return {storable(key): storable(part) for key, part in value.items()}
    return value


def sent_values(model: BaseModel) -> dict[str, Any]:
    """What a caller did send; the rest is left to the function's own defaults."""
    return {name: getattr(model, name) for name in model.model_fields_set}


def invalid(problems: Iterable[Mapping[str, Any]]) -> Invalid:
    """One shape for refused arguments, whichever door they came to."""
    fields: dict[str, str] = {}
    for problem in problems:
        name = ".".join(str(part) for part in problem["loc"]) or gettext("arguments")
        fields.setdefault(name, message_for(problem))
    return Invalid(fields=fields)


def _field(parameter: inspect.Parameter) -> Any:
    """The argument's default, and the description that ``X | None`` would keep inside its union."""
    # Naming no description here would take away the one that the annotation has.
    told: dict[str, Any] = {"description": text} if (text := _description_inside(parameter.annotation)) else {}
    if parameter.default is parameter.empty:
        return Field(..., **told)
    if parameter.default is UNCHANGED:
        # No default in the schema: it would be none that a caller could send.
        return Field(default_factory=lambda: UNCHANGED, **told)
    return Field(parameter.default, **told)


def _description_inside(annotation: Any) -> str | None:
    marks = (mark for part in get_args(annotation) for mark in getattr(part, "__metadata__", ()))
    return next((mark.description for mark in marks if getattr(mark, "description", None)), None)


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
