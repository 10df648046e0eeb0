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


MAYA = [
    "Maya works at Acme",
    "Maya Lindqvist is employed by Acme",
    "Acme is Maya's employer",
    "Maya works for Acme as an engineer",
    "Maya works at Beta Corp",
]
PORTS = [
    "The staging server listens on port 8081.",
    "Note 2: Staging server port is 8081.",
    "Port of the staging server: 8081 (note 3)",
    "On staging the server uses port 8081",
    "The staging server listens on port 9090.",
]
TOPIC = [
    "The team deploys to production with Ansible.",
    "Production deploys need two approvals.",
    "We deploy production from the main branch.",
    "A production deploy takes twelve minutes.",
    "Production deploys are announced in the ops channel.",
]
SERIES = [f"Backup of {month}: {size} GB on the storage box" for month, size in
          (("January", 340), ("February", 350), ("March", 352), ("April", 361), ("May", 370))]  # fmt: skip


@pytest.mark.parametrize("wordings", [MAYA, PORTS], ids=["names", "figures"])
def test_many_wordings_fold_into_one_and_the_contradiction_stands_beside_it(wordings: list[str]) -> None:
    groups = fold([said(text) for text in wordings])
    assert [group.leader for group in groups] == [0, len(wordings) - 1]
    assert len(groups[0].alike) == len(wordings) - 2 and groups[0].contradicts == [len(wordings) - 1]


@pytest.mark.parametrize("texts", [TOPIC, SERIES], ids=["one subject", "a row of figures"])
def test_different_facts_of_one_subject_are_all_kept(texts: list[str]) -> None:
    assert [group.leader for group in fold([said(text) for text in texts])] == list(range(len(texts)))


def test_a_note_is_no_negation() -> None:
    assert not said("Note this").is_negated and said("Do not do this").is_negated and said("don’t do this").is_negated
    assert said("不要这样做").is_negated and not said("这是不同的做法").is_negated


def test_texts_without_words_are_only_like_themselves() -> None:
    assert is_alike(said(""), said("")) and not is_alike(said(""), said("deploy"))
    assert len(fold([said("!"), said("deploy"), said("...")])) == 2
