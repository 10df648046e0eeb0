"""How far a text stands out, seen from where all texts of its language spread evenly."""

import numpy as np
import pytest

from apps.search.vectors import whitening
from apps.search.vectors.whitening import whitenings

DIMENSIONS = 8


def texts(number: int, *, spread=1.0, middle=0.0, seed=1) -> np.ndarray:
    """Alike in most directions, different in the first two."""
    dice = np.random.default_rng(seed)
    wide = np.array([4.0, 2.0, *[0.3] * (DIMENSIONS - 2)], np.float32)
    return (middle + spread * dice.standard_normal((number, DIMENSIONS)) * wide).astype(np.float32)


def question(seed=3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)


def scores(vectors: np.ndarray, taken, asked: np.ndarray) -> np.ndarray:
    direction, level = taken.towards(asked)
    return vectors @ direction - level


@pytest.mark.parametrize("number", [20, 300, 5_000])
def test_scores_are_standard_deviations_from_the_middle(number):
    vectors = texts(number, middle=2.0)
    (taken,) = whitenings([vectors], [number])
    found = scores(vectors, taken, question())
    assert (found.mean(), found.std()) == (pytest.approx(0, abs=1e-3), pytest.approx(1, rel=1e-3))


def test_what_varies_much_counts_less_than_in_plain_products_and_more_so_the_more_texts_tell():
    asked = np.ones(DIMENSIONS, np.float32)
    share = []
    for number in (30, 30_000):
        (taken,) = whitenings([texts(number)], [number])
        direction, _ = taken.towards(asked)
        share.append(abs(direction[0]) / np.abs(direction).max())
    assert 1 > share[0] > share[1] > 0.1


def test_a_language_of_few_texts_keeps_a_middle_of_its_own_and_spreads_as_all_do():
    many, few = texts(200), texts(3, middle=5.0, seed=2)
    of_many, of_few = whitenings([many, few], [200, 3])
    by_own, by_other = (
        np.abs(scores(few, taken, np.ones(DIMENSIONS, np.float32))).mean() for taken in (of_few, of_many)
    )
    assert by_own < by_other / 3
    assert np.all(of_few.mean > of_many.mean + 2)
    assert of_few.evened > 0


@pytest.mark.parametrize("vectors", [np.ones((1, DIMENSIONS), np.float32), np.ones((40, DIMENSIONS), np.float32)])
def test_texts_that_all_say_the_same_stand_out_by_nothing(vectors):
    (taken,) = whitenings([vectors], [len(vectors)])
    assert np.abs(scores(vectors, taken, question())).max() < 1e-3


def test_no_texts_at_all_are_no_error():
    taken = whitenings([np.empty((0, DIMENSIONS), np.float32)] * 2, [0, 0])
    assert all(np.isfinite(one.towards(question())[0]).all() for one in taken)


def test_very_long_vectors_are_only_centred(monkeypatch):
    monkeypatch.setattr(whitening, "WIDEST", DIMENSIONS - 1)
    vectors = texts(300, middle=2.0)
    (taken,) = whitenings([vectors], [300])
    assert taken.evened == 0
    found = scores(vectors, taken, question())
    assert (found.mean(), found.std()) == (pytest.approx(0, abs=1e-3), pytest.approx(1, rel=1e-3))
    plain = vectors @ (question() - vectors.mean(axis=0))
    assert np.array_equal(np.argsort(found), np.argsort(plain))
