"""What says the same is folded; what differs in the fact itself never is."""

import pytest

from apps.search.likeness import clash, fold, is_alike, said, says_the_same

SAME = [
    ("We deploy on Thursdays.", "The team deploys every Thursday."),
    ("The build cache lives on the NAS in the cellar", "The NAS in the cellar has the build cache"),
    ("每周四部署到生产环境", "生产环境每周四部署"),
    ("The staging server listens on port 8081", "Staging server: it listens on port 8081"),
]
APART = [
    ("We deploy on Thursdays.", "We deploy on Tuesdays."),
    ("We deploy on Thursdays.", "We do not deploy on Thursdays."),
    ("The staging server listens on port 8081", "The staging server listens on port 9090"),
    ("Maya works at Acme", "Maya works at Beta Corp"),
    ("the user prefers dark mode", "the user prefers light mode"),
    ("the database is postgres", "the database is mysql"),
    ("每周四部署到生产环境", "每周二部署到生产环境"),
    ("客户要求开发票", "客户不要求开发票"),
    ("Retries are limited to three", "Retries are limited to five"),
]
UNLIKE = [
    ("We deploy on Thursdays.", "The kitchen has a new coffee machine."),
    ("每周四部署到生产环境", "小王喜欢喝绿茶"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_wordings_of_one_fact_say_the_same(one: str, other: str) -> None:
    assert says_the_same(said(one), said(other))


@pytest.mark.parametrize(("one", "other"), APART)
def test_a_different_fact_in_the_same_words_clashes(one: str, other: str) -> None:
    assert is_alike(said(one), said(other), loosely=True)
    assert clash(said(one), said(other)) and not says_the_same(said(one), said(other))


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_different_things_are_not_alike(one: str, other: str) -> None:
    assert not is_alike(said(one), said(other), loosely=True)
    assert len(fold([said(one), said(other)])) == 2
