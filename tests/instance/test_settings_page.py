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
