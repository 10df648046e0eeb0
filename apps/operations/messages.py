"""Pydantic's complaints in the reader's language: one table by error type."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

MESSAGES = {
    "missing": _("This is required."),
    "extra_forbidden": _("There is no argument of this name."),
    "string_type": _("This must be text."),
    "string_too_short": _("This must have at least {min_length} characters."),
    "string_too_long": _("This must have at most {max_length} characters."),
    "string_pattern_mismatch": _("This does not have the expected form."),
    "string_unicode": _("This must be valid Unicode text."),
    "int_type": _("This must be a whole number."),
    "int_parsing": _("This must be a whole number."),
    "int_from_float": _("This must be a whole number."),
    "int_parsing_size": _("This number is too large."),
    "finite_number": _("This must be a finite number."),
    "multiple_of": _("This must be a multiple of {multiple_of}."),
    "float_type": _("This must be a number."),
    "float_parsing": _("This must be a number."),
    "bool_type": _("This must be true or false."),
    "bool_parsing": _("This must be true or false."),
    "none_required": _("This must be left out or null."),
    "set_type": _("This must be a list."),
    "list_type": _("This must be a list."),
    "dict_type": _("This must be an object."),
    "model_type": _("This must be an object."),
    "model_attributes_type": _("This must be an object."),
    "too_long": _("This must have at most {max_length} items."),
    "too_short": _("This must have at least {min_length} items."),
    "enum": _("This must be one of {expected}."),
    "literal_error": _("This must be one of {expected}."),
    "greater_than": _("This must be greater than {gt}."),
    "greater_than_equal": _("This must be at least {ge}."),
    "less_than": _("This must be less than {lt}."),
    "less_than_equal": _("This must be at most {le}."),
    "datetime_parsing": _("This must be a date or a time, such as 2026-11-30 or 2026-11-30T09:00:00+08:00."),
    "datetime_from_date_parsing": _("This must be a date or a time, such as 2026-11-30 or 2026-11-30T09:00:00+08:00."),
    "datetime_type": _("This must be a date or a time, such as 2026-11-30 or 2026-11-30T09:00:00+08:00."),
    "datetime_object_invalid": _("This must be a date or a time, such as 2026-11-30 or 2026-11-30T09:00:00+08:00."),
    "timezone_aware": _("This time needs an offset, such as 2026-11-30T09:00:00+08:00."),
    "date_type": _("This must be a date, such as 2026-11-30."),
    "date_from_datetime_parsing": _("This must be a date, such as 2026-11-30."),
    "date_from_datetime_inexact": _("This must be a date, such as 2026-11-30."),
    "date_parsing": _("This must be a date, such as 2026-11-30."),
    "json_type": _("This must be JSON inside a string."),
    "json_invalid": _("This must be valid JSON."),
}

NOT_EMPTY = _("This must not be empty.")


def message_for(problem: Mapping[str, Any]) -> str:
    """One complaint of pydantic's as a sentence. Its own words stand where the table has none."""
    kind, context = problem["type"], problem.get("ctx") or {}
    if kind in ("value_error", "assertion_error"):
        return str(context.get("error", problem["msg"]))
    if kind in ("too_long", "too_short") and isinstance(problem.get("input"), str):
        kind = f"string_{kind}"  # Where a text was made one line before it was measured.
    if kind == "string_too_short" and context.get("min_length") == 1:
        return str(NOT_EMPTY)
    if kind not in MESSAGES:
        return str(problem["msg"])
    if "expected" in context:  # "'a', 'b' or 'c'": pydantic speaks English only.
        context = {**context, "expected": str(context["expected"]).replace(" or ", ", ")}
    return str(MESSAGES[kind]).format_map(context)
