"""Ranking by meaning: exact, filtered before it is ranked, fair to both languages, and never older than the rows."""

import numpy as np
import pytest

from apps.search import index
from apps.search.filters import SearchFilters
from apps.search.models import Document, Passage, VectorModel
from apps.search.vectors import blocks, field, scanning, whitening
from apps.search.vectors import matrix as matrices
from apps.search.vectors.blocks import Block
from apps.search.vectors.matrix import LANGUAGES, Matrix
from apps.search.vectors.packed import Question
from tests.search.made import entry

pytestmark = pytest.mark.django_db
HERE = SearchFilters(["project/one"])
DIMENSIONS = 16


class Store:
    """Documents with vectors of our choice."""

    def __init__(self) -> None:
        self.model = VectorModel.objects.create(key="made", dimensions=DIMENSIONS)
        self.dice = np.random.default_rng(7)
        self.matrix = Matrix(self.model.pk, DIMENSIONS)
        self.vectors: dict[int, list[np.ndarray]] = {}

    def direction(self) -> np.ndarray:
        made = self.dice.standard_normal(DIMENSIONS).astype(np.float32)
        return made / np.linalg.norm(made)

    def add(self, key: str, vectors=None, *, language="en", revision=1, **fields) -> int:
        number = index.index_write(entry(key, body="x", revision=revision, **fields))
        self.vectors[number] = [self.direction()] if vectors is None else vectors
        Document.objects.filter(pk=number).update(embedded=revision)
        Passage.objects.filter(document_id=number).delete()
        Passage.objects.bulk_create(
            Passage(
                document_id=number, revision=revision, model_id=self.model.pk, number=place, start=place, end=place + 1,
                language=language, text_hash=b"x", vector=vector.astype(np.float16).tobytes(),
            )
            for place, vector in enumerate(self.vectors[number])
        )  # fmt: skip
        return number

    def near(self, question, filters=HERE, **wanted):
        self.matrix.refresh()
        return self.matrix.nearest(question, filters, **wanted)

    def keys(self, question, filters=HERE, **wanted) -> list[str]:
        names = dict(Document.objects.values_list("pk", "stable_id"))
        return [names[one.document_id] for one in self.near(question, filters, **wanted)]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture(params=[(2_048,), (16, 64)], ids=["loose", "packed"])
def packed(request, monkeypatch) -> None:
    """Both ways to scan: few rows as they are, many by the integer kernels."""
    monkeypatch.setattr(blocks, "PACKED_ROWS", request.param)


def scores_of(store: Store, question) -> dict[int, float]:
    """By hand: every document by its best passage, as far as it stands out among those of its language."""
    vectors = {number: [v.astype(np.float16).astype(np.float32) for v in vs] for number, vs in store.vectors.items()}
    languages = dict(Passage.objects.values_list("document_id", "language"))
    samples = [
        np.array([v for number, vs in vectors.items() if languages[number] == each for v in vs], np.float32)
        for each in LANGUAGES
    ]
    samples = [some.reshape(-1, DIMENSIONS) for some in samples]
    taken = dict(zip(LANGUAGES, whitening.whitenings(samples, [len(some) for some in samples]), strict=True))
    scores = {}
    for number, vs in vectors.items():
        direction, level = taken[languages[number]].towards(question)
        scores[number] = max(float(v @ direction - level) for v in vs)
    return scores


def best_of(store: Store, question) -> list[int]:
    scores = scores_of(store, question)
    return sorted(scores, key=lambda number: -scores[number])


@pytest.mark.parametrize("sampled", [16, 10_000])
@pytest.mark.usefixtures("packed")
def test_the_ranking_is_exact(store, monkeypatch, sampled):
    monkeypatch.setattr(field, "SAMPLED", sampled)
    for number in range(300):
        store.add(f"m{number}", [store.direction() for _ in range(4)])
    for _ in range(5):
        question = store.direction()
        assert [one.document_id for one in store.near(question, limit=10)] == best_of(store, question)[:10]


def test_beyond_so_many_vectors_stay_in_the_database_and_what_is_shown_is_exact(store, monkeypatch):
    for number in range(300):
        store.add(f"m{number}", [store.direction() for _ in range(3)], language="zh" if number % 3 else "en")
    question = store.direction()
    exact = {one.document_id: one for one in store.near(question, limit=20)}
    monkeypatch.setattr(blocks, "EXACT_ROWS", 100)
    store.matrix = Matrix(store.model.pk, DIMENSIONS)
    far = best_of(store, question)[-1]
    found = {one.document_id: one for one in store.near(question, limit=20, also=[far])}
    assert not store.matrix.blocks["project/one", "en"].is_exact
    assert far in found
    same = exact.keys() & found.keys()
    assert len(same) >= len(exact) * 0.9
    assert all(found[key].cosine == pytest.approx(exact[key].cosine, abs=1e-6) for key in same)
    assert [one.z for one in found.values()] == sorted((one.z for one in found.values()), reverse=True)
    assert store.keys(question, SearchFilters(["project/one"], kinds=["rule"])) == []
    index.index_remove(["m0"])
    store.add("m1", [question], revision=2)
    assert store.near(question, limit=3)[0].revision == 2


@pytest.mark.usefixtures("packed")
def test_a_scan_is_never_further_off_than_it_says(store):
    block = Block(DIMENSIONS)
    common = store.direction()  # What all vectors share costs no exactness.
    vectors = np.array([common + 0.3 * store.direction() for _ in range(500)], np.float16)
    for begin in range(0, 500, 100):
        block.add({"alive": np.ones(100, np.bool_)}, vectors[begin : begin + 100])
    for length in (1, 30):
        for _ in range(20):
            direction = length * store.direction()
            level = np.float32(length / 3)
            (near,) = scanning.scan([(block, Question(direction, level))])
            off = np.abs(near + level - vectors.astype(np.float32) @ direction).max()
            assert off <= block.error * length + 1e-5 * length
    assert block.error < 0.006


def test_a_block_knows_the_rows_of_a_document_wherever_they_came_and_went(monkeypatch):
    monkeypatch.setattr(blocks, "DEAD_ROWS", 10)
    dice = np.random.default_rng(5)
    block = Block(DIMENSIONS)

    def add(*documents):
        vectors = dice.standard_normal((len(documents), DIMENSIONS)).astype(np.float16)
        block.add({"document": np.array(documents), "alive": np.ones(len(documents), np.bool_)}, vectors)

    def rows_of(*documents):
        return sorted(block.rows_of(documents).tolist())

    add(7, 7, 3, 3, 3, 9)
    add(7, 4)
    assert (rows_of(7), rows_of(3, 4), rows_of(5)) == ([0, 1, 6], [2, 3, 4, 7], [])
    block.bury_documents([7, 5])
    add(*[7] * 30)
    assert rows_of(7) == list(range(8, 38))
    block.bury_documents([7])
    block.compact()
    assert block.count == 5
    assert (rows_of(7), rows_of(9), rows_of(3)) == ([], [3], [0, 1, 2])
    assert block.column("document").tolist() == [3, 3, 3, 9, 4]


def test_a_document_comes_once_with_its_best_passage(store):
    question = store.direction()
    store.add("a", [store.direction(), question, store.direction()])
    (one,) = store.near(question)
    assert (one.start, one.end, round(one.cosine, 2)) == (1, 2, 1.0)


def test_filters_come_before_the_limit(store):
    question = store.direction()
    for number in range(20):
        store.add(f"m{number}", [question])
    store.add("fact", kind="fact")
    store.add("elsewhere", [question], scope_key="library")
    store.add("archived", status="archived")
    store.add("tagged", tags=["x"])
    assert store.keys(question, SearchFilters(["project/one"], kinds=["fact"]), limit=5) == ["fact"]
    assert store.keys(question, SearchFilters(["library"])) == ["elsewhere"]
    assert store.keys(question, SearchFilters(["project/one"], statuses=["archived"])) == ["archived"]
    assert store.keys(question, SearchFilters(["project/one"], tags=["x"])) == ["tagged"]
    assert store.keys(question, SearchFilters([])) == store.keys(question, SearchFilters(["unknown"])) == []
    assert "archived" not in store.keys(question, limit=50)


def test_each_language_has_its_share_and_is_scaled_by_its_own(store):
    question = store.direction()
    for number in range(40):  # Texts of the question's language are all nearer to it.
        near = question + 0.4 * store.direction()
        store.add(f"zh{number}", [near / np.linalg.norm(near)], language="zh")
        store.add(f"en{number}")
    found = store.near(question, limit=10)
    languages = [one.language for one in found]
    assert (languages.count("zh") >= 5, languages.count("en") >= 5) == (True, True)
    assert [one.z for one in found] == sorted((one.z for one in found), reverse=True)
    everything = store.near(question, limit=1_000)
    for language in ("zh", "en"):
        z = [one.z for one in everything if one.language == language]
        assert (round(float(np.mean(z)), 2), round(float(np.std(z)), 2)) == (0, 1)
        assert {one.among for one in everything if one.language == language} == {40}
    direct = {number: float(vs[0].astype(np.float16) @ question) for number, vs in store.vectors.items()}
    assert all(one.cosine == pytest.approx(direct[one.document_id], abs=1e-3) for one in everything)


def test_what_all_texts_share_counts_less(store):
    """Two directions that nearly all texts are made of, in one text a third one: a question about all three means that text."""
    first, second, third = (np.eye(DIMENSIONS, dtype=np.float32)[number] for number in range(3))
    for number in range(60):
        made = first * store.dice.uniform(0.5, 1) + second * store.dice.uniform(0.5, 1) + 0.05 * store.direction()
        store.add(f"m{number}", [made / np.linalg.norm(made)])
    meant = first + 0.3 * second + 0.35 * third
    store.add("meant", [meant / np.linalg.norm(meant)])
    question = first + second + 0.4 * third
    question /= np.linalg.norm(question)
    assert store.near(question, limit=60)[0].document_id != max(
        store.vectors, key=lambda number: float(store.vectors[number][0] @ question)
    )
    assert store.keys(question, limit=1) == ["meant"]


def test_few_texts_of_a_language_are_spread_as_all_are_around_a_middle_of_their_own(store):
    question = store.direction()
    for number in range(30):
        store.add(f"en{number}")
    for number in range(
        3
    ):  # Nearer to the question than all others, as texts of its language are, and one of them more.
        near = question + (0.5 if number else 0.2) * store.direction()
        store.add(f"zh{number}", [near / np.linalg.norm(near)], language="zh")
    found = [one for one in store.near(question) if one.language == "zh"]
    assert found[0].z > 1 > found[1].z


def test_documents_asked_for_come_whatever_their_rank(store):
    question = store.direction()
    for number in range(30):
        store.add(f"m{number}", [question])
    far = store.add("far", [-question])
    hidden = store.add("hidden", [-question], status="archived")
    found = store.near(question, limit=3, also=[far, hidden, 99_999])
    assert [one.document_id for one in found][-1] == far
    assert len(found) == 4
    assert [one.document_id for one in store.near(question, limit=0, also=[far])] == [far]


def test_rows_that_went_or_changed_give_way_to_the_next_ones(store):
    question = store.direction()
    for number in range(12):
        store.add(f"m{number:02}", [question])
    assert len(store.keys(question, limit=4)) == 4
    index.index_remove([f"m{number:02}" for number in range(8)])
    index.index_write(entry("m08", body="new", revision=2))
    assert sorted(store.keys(question, limit=4)) == ["m09", "m10", "m11"]
    assert store.matrix.passages == 3


def test_who_checks_the_hits_themselves_may_get_one_that_fell_but_not_the_same_one_again(store):
    question = store.direction()
    for number in range(6):
        store.add(f"m{number}", [question])
    assert len(store.keys(question, limit=6)) == 6
    index.index_write(entry("m5", body="x", status="archived"))
    assert "m5" in store.keys(question, limit=6, checked=False)
    assert "m5" not in store.keys(question, limit=6)
    assert store.keys(question, limit=6, checked=False) == store.keys(question, limit=6)
    index.index_write(entry("m5", body="x"))
    assert "m5" in store.keys(question, limit=6, checked=False)


def test_what_fell_counts_again_once_it_is_embedded_anew(store):
    question = store.direction()
    store.add("a", [question])
    store.keys(question)
    index.index_write(entry("a", body="new", revision=2))
    assert store.keys(question) == []
    store.add("a", [question], revision=2)
    assert store.keys(question, checked=False) == ["a"]


def test_new_passages_take_the_place_of_old_ones_also_in_another_scope(store):
    question = store.direction()
    store.add("a", [question])
    store.keys(question)
    store.add("a", [-question, store.direction()], revision=2, scope_key="library")
    (one,) = store.near(question, SearchFilters(["project/one", "library"]))
    assert (one.revision, one.cosine < 0.9) == (2, True)
    assert store.matrix.passages == 2


def test_a_read_in_many_parts_buries_nothing_of_its_own(store, monkeypatch):
    monkeypatch.setattr(matrices, "READ_AT_ONCE", 3)
    question = store.direction()
    for number in range(9):
        store.add(f"m{number}", [store.direction() for _ in range(1 + number % 5)])
    assert len(store.keys(question)) == 9
    assert store.matrix.passages == Passage.objects.count()


def test_what_is_packed_goes_into_ever_larger_parts_and_little_stays_loose(monkeypatch):
    monkeypatch.setattr(blocks, "PACKED_ROWS", (16, 64, 256))
    block, question = Block(DIMENSIONS), Question(np.ones(DIMENSIONS, np.float32), np.float32(0))
    for added in (10, 100, 7, 300, 64, 1, 250):
        vectors = np.random.default_rng(added).standard_normal((added, DIMENSIONS)).astype(np.float16)
        block.add({"alive": np.ones(added, np.bool_)}, vectors)
        rows = [part.rows for part in block.parts(question, np.empty(block.count, np.float32))]
        whole = [block.count // 256, block.count % 256 // 64, block.count % 64 // 16]
        expected = [256] * whole[0] + [64] * whole[1] + [16] * whole[2]
        assert rows == [*expected, *filter(None, [block.count % 16])]


@pytest.mark.usefixtures("packed")
def test_memory_grows_and_is_given_back(store):
    question = store.direction()
    for _ in range(6):
        for number in range(100):
            store.add(f"m{number}", [store.direction() for _ in range(2)], revision=1)
        store.keys(question)
    (block,) = store.matrix.blocks.values()
    assert store.matrix.passages == 200
    assert block.count < 600
    assert [one.document_id for one in store.near(question, limit=7)] == best_of(store, question)[:7]


def test_what_was_scanned_ahead_serves_until_something_came(store, monkeypatch):
    question = store.direction()
    for number in range(40):
        store.add(f"m{number}", [store.direction() for _ in range(2)])
    plain = store.near(question, limit=5)
    scans = []
    real = field.scan
    monkeypatch.setattr(field, "scan", lambda blocks: scans.append(len(blocks)) or real(blocks))
    ahead = store.matrix.field(question, HERE.scope_keys)
    assert store.near(question, limit=5, ahead=ahead) == plain
    ahead = store.matrix.field(question, HERE.scope_keys)
    index.index_remove([f"m{number}" for number in range(20)])  # Seen without another scan.
    gone = {key for key in store.vectors} - set(Document.objects.values_list("pk", flat=True))
    assert len(gone) == 20
    assert not gone & {one.document_id for one in store.near(question, limit=40, ahead=ahead)}
    assert scans == [1, 1]
    ahead = store.matrix.field(question, HERE.scope_keys)
    new = store.add("new", [question])
    assert store.near(question, limit=5, ahead=ahead)[0].document_id == new
    assert scans == [1, 1, 1, 1]
    ahead = store.matrix.field(question, ["library"])
    assert store.near(question, limit=5, ahead=ahead)[0].document_id == new


def test_documents_asked_for_alone_cost_no_scan(store, monkeypatch):
    question = store.direction()
    numbers = [store.add(f"m{number}", [store.direction() for _ in range(3)]) for number in range(30)]
    scored = {one.document_id: one.z for one in store.near(question, limit=30)}
    monkeypatch.setattr(field, "scan", lambda blocks: pytest.fail("scanned") if blocks else [])
    asked = store.near(question, also=numbers[:4], limit=0)
    assert {one.document_id for one in asked} == set(numbers[:4])
    assert all(one.z <= scored[one.document_id] + 1e-5 for one in asked)


def test_vectors_of_another_model_or_size_are_not_touched(store):
    question = store.direction()
    store.add("a", [question])
    Passage.objects.update(model_id=99)
    assert store.keys(question) == []
    store.add("b", [np.ones(3, np.float32)])
    assert store.keys(question) == []


def test_another_database_is_read_anew(store):
    question = store.direction()
    store.add("a", [question])
    assert store.keys(question) == ["a"]
    store.matrix._last += 1_000
    assert store.keys(question) == ["a"]
    assert store.matrix.passages == 1


def test_an_answer_costs_few_statements(store, django_assert_num_queries):
    for number in range(30):
        store.add(f"m{number}")
    store.keys(store.direction())
    with django_assert_num_queries(2):
        store.near(store.direction())
