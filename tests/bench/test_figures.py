"""How figures are made of what was measured, and what the last line says of them."""

from collections import Counter
from types import SimpleNamespace

import pytest

from bench import tables
from bench.report import Figure, Report, table
from bench.rounds import Contender, Pair, ratio


def contender(size: int = 1_000, **times: list[float]) -> Contender:
    made = Contender(SimpleNamespace(), size, [], Counter())
    made.times.update(times)
    return made


def test_a_ratio_is_the_median_of_the_rounds_so_that_one_bad_round_does_not_count():
    assert ratio(contender(save=[2.0, 2.2, 90.0]), contender(save=[1.0, 1.0, 1.0]), "save") == 2.2
    # A slow moment that met both leaves the ratio as it was.
    assert ratio(contender(save=[2.0, 20.0, 2.0]), contender(save=[1.0, 10.0, 1.0]), "save") == 2.0


def test_the_worst_kind_counts_at_each_size():
    pair = Pair(contender(word=[1.0], path=[4.0]), contender(word=[1.0], path=[2.0]))
    [figure] = tables.worst([pair], ["word", "path"], what="exact words", limit=3)
    assert (figure.what, figure.value, figure.holds) == ("exact words at 1,000 [path]", 2.0, True)


def test_growth_compares_the_largest_size_with_the_smallest():
    small, large = contender(read=[1.0, 1.0]), contender(20_000, read=[1.6, 1.6])
    figure = tables.growth([Pair(small, small), Pair(large, small)], ["read"], limit=1.5)
    assert (figure.what, figure.value, figure.holds) == ("growth 20,000/1,000", 1.6, False)


def test_background_work_is_laid_on_the_calls_that_caused_it():
    one = contender()
    one.calls, one.driven, one.whole = 100, Counter(web=0.5, keeper=0.01), Counter(web=0.9, keeper=0.2, jobs=0.1)
    assert one.cpu() == pytest.approx((5.0, 3.0))


@pytest.mark.parametrize(
    ("value", "at_least", "holds"), [(2.5, False, True), (2.51, False, False), (0.5, True, True), (0.49, True, False)]
)
def test_limits_hold_up_to_themselves(value, at_least, holds):
    limit = 0.5 if at_least else 2.5
    assert Figure("save", value, limit, at_least=at_least).holds is holds


def test_the_last_line_is_one_line_of_ratios_and_a_verdict():
    report = Report([Figure("at 1,000", 1.234, 2.5), Figure("growth", 1.6, 1.5)])
    assert report.last_line("save") == "save: at 1,000 1.23x (at most 2.5x); growth 1.60x (at most 1.5x, SHORT): SHORT"


def test_what_must_never_happen_is_short_whatever_the_figures():
    report = Report([Figure("calls", 0.9, 0.5, at_least=True)], failures=["a note was lost"])
    assert not report.holds
    assert report.last_line("mixed").endswith("FAILED: a note was lost: SHORT")


def test_columns_stand_below_each_other():
    assert table(["", "ms"], [["save", "12.5"], ["read", "3"]]) == ["        ms", "save  12.5", "read     3"]
