import pytest

from memrelay.options import GROUPS, OPTIONS, as_page
from memrelay.settings import PROJECT_FOLDER


def test_the_page_of_settings_is_the_printed_one():
    page = (PROJECT_FOLDER / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == as_page(), "run: make settings"


def test_every_option_has_a_name_of_its_own_a_group_and_a_whole_sentence():
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    for option in OPTIONS:
        assert option.name.startswith("MEMRELAY_")
        assert option.group in GROUPS
        assert option.meaning.endswith(".")
        assert isinstance(option.default, option.kind)


def test_the_settings_read_every_option():
    text = (PROJECT_FOLDER / "memrelay" / "settings.py").read_text(encoding="utf-8")
    unread = [option.name for option in OPTIONS if f'env("{option.name}")' not in text]
    assert unread == []


OF_NAME = {option.name: option for option in OPTIONS}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("SEARCH_LIMIT", " 25 ", 25),
        ("SEARCH_LIMIT", "", 10),
        ("SEARCH_MEANING_FLOOR", "-2.5", -2.5),
        ("RECALL", "Off", False),
        ("RECALL", "1", True),
        ("SEARCH_FOLD", "", True),
    ],
)
def test_what_an_operator_writes_is_understood(name, text, value):
    assert OF_NAME[f"MEMRELAY_{name}"].understood(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SEARCH_LIMIT", "ten"),
        ("SEARCH_LIMIT", "0"),
        ("SEARCH_LIMIT", "201"),
        ("SEARCH_DEPTH", "2.5"),
        ("RECALL_MEMORIES", "-1"),
        ("RECALL_MIN_SCORE", "nan"),
        ("RECALL", "maybe"),
        ("PORT", "70000"),
    ],
)
def test_what_cannot_work_is_refused(name, text):
    with pytest.raises(ValueError, match=r"\S"):
        OF_NAME[f"MEMRELAY_{name}"].understood(text)


def test_every_default_can_work():
    for option in OPTIONS:
        if option.kind in (int, float, bool):
            assert option.understood(str(option.default)) == option.default, option.name
