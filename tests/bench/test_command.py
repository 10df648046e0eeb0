"""``python -m bench`` as it is typed."""

import pytest

from bench import __main__ as command
from bench.registry import Benchmark, Options
from bench.report import Figure, Report


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command with one benchmark, ``toy``, whose figure is given; answers exit code and output."""

    def typed(*arguments: str, value: float = 1.0) -> tuple[int, str]:
        def measure(options: Options) -> Report:
            return Report([Figure("toy", value, 2.0)], ["a table"])

        toy = Benchmark("plays", lambda options: print("made"), measure)
        monkeypatch.setattr(command, "benchmarks", lambda: {"toy": toy})
        monkeypatch.setattr("signal.signal", lambda *_arguments: None)
        monkeypatch.setattr("sys.argv", ["bench", *arguments])
        return command.main(), capsys.readouterr().out

    return typed


def test_without_a_name_every_benchmark_is_listed(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench"])
    assert command.main() == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"save", "search", "read", "mixed"} <= set(listed)


def test_the_figure_stands_in_the_last_line(run):
    assert run("toy") == (0, "a table\ntoy: toy 1.00x (at most 2x): holds\n")


def test_check_fails_where_a_figure_is_short(run):
    assert run("toy", "--check")[0] == 0
    assert run("toy", "--check", value=2.1)[0] == 1
    assert run("toy", value=2.1)[0] == 0


def test_prepare_alone_measures_nothing(run):
    assert run("toy", "--prepare") == (0, "made\ntoy: prepared\n")
    assert run("toy", "--prepare", "--check")[1].splitlines()[-1] == "toy: toy 1.00x (at most 2x): holds"


def test_data_is_refused_where_a_benchmark_takes_none(run, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        run("toy", "--data", str(tmp_path / "set.json"))
    assert ended.value.code == 2
    assert "toy takes no --data" in capsys.readouterr().err


def test_an_unknown_name_is_refused(run):
    with pytest.raises(SystemExit):
        run("nonsense")
