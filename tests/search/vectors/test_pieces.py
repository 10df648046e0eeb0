"""How a document is cut: sentences of both languages, Markdown, places in the body, bounds."""

import pytest

from apps.search.vectors.pieces import LATIN_CHARACTERS, cut, language_of, weight

LONG = "The staging deploy runs on Tuesdays and takes an hour. " * 3
LONG_ZH = "我们决定把支付服务迁移到新的集群，财务部门会在周五之前确认。" * 4


def said(body: str, **fields) -> list[str]:
    made = cut(fields.get("title", ""), "", [], body, most=fields.get("most", 64))
    return [body[piece.start : piece.end] for piece in made.pieces if piece.end]


def test_a_body_of_one_piece_is_one_passage_with_its_head():
    (piece,) = cut("Deploys", "How we do it", ["ops"], "On Tuesdays at noon.", most=64).pieces
    assert piece.text == "Deploys\nHow we do it\nops\nOn Tuesdays at noon."
    assert (piece.start, piece.end) == (0, 20)


def test_a_title_that_repeats_the_beginning_is_not_said_twice():
    (piece,) = cut("On Tuesdays at", "", [], "On Tuesdays at noon.", most=64).pieces
    assert piece.text == "On Tuesdays at noon."


def test_a_longer_body_has_a_head_a_whole_and_pieces_with_the_title_before_them():
    body = LONG + "\n\n" + LONG_ZH
    made = cut("Deploys", "How", ["ops"], body, most=64).pieces
    assert (made[0].start, made[0].end, made[0].text) == (0, 0, "Deploys\nHow\nops")
    assert (made[1].start, made[1].end) == (0, len(body))
    assert all(piece.text.startswith("Deploys\n") for piece in made)
    assert [piece.language for piece in made[2:]] == ["en", "zh", "zh"]


def test_a_body_of_many_matters_has_pieces_only():
    made = cut("Deploys", "", [], LONG * 3 + "\n\n" + LONG_ZH, most=64).pieces
    assert all(weight(piece.text) < 330 for piece in made)
    assert len(made) == 5


def test_without_a_summary_the_title_stands_before_the_pieces_alone():
    made = cut("Deploys", "", ["ops"], LONG * 2, most=64).pieces
    assert all(piece.end and piece.text.startswith("Deploys\n") for piece in made)


@pytest.mark.parametrize(
    ("body", "first"),
    [
        (LONG * 2, LONG.strip()),
        (LONG_ZH, "我们决定把支付服务迁移到新的集群，财务部门会在周五之前确认。" * 3),
        (
            "Ask Dr. Smith, e.g. at noon. " * 2 + "Then wait! " * 9,
            "Ask Dr. Smith, e.g. at noon. Ask Dr. Smith, e.g. at noon. Then wait!",
        ),
        ("他说：“可以。”然后走了！下一步？再说。" * 3, "他说：“可以。”然后走了！下一步？"),
    ],
)
def test_a_piece_is_at_most_three_sentences(body, first):
    pieces = [piece for piece in said(body, title="T") if piece != body.strip()]
    assert pieces[0] == first


def test_headings_lead_their_piece_and_code_is_bounded():
    body = f"# One\n\n{LONG}\n\n## Two\n\n- first\n- second\n\n```python\n" + "x = 'a line of code'\n" * 60 + "```\n"
    pieces = said(body)
    assert [piece.partition("\n")[0] for piece in pieces if piece.startswith("#")] == ["# One", "## Two"]
    assert not any("```" in piece for piece in pieces if piece.count("x =") > 2)
    assert all(len(piece) <= LATIN_CHARACTERS + 40 for piece in pieces)


@pytest.mark.parametrize("body", ["x" * 5_000, "长" * 3_000, "word " * 2_000, "一二三，" * 900, ". " * 900])
def test_a_text_without_ends_is_cut_all_the_same_and_nothing_is_lost(body):
    pieces = said(body, most=1_000)
    assert all(weight(piece) <= LATIN_CHARACTERS for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(body.split())


def test_of_too_many_pieces_the_whole_text_is_covered_evenly_and_the_rest_counted():
    body = "\n\n".join(f"Paragraph {number}. {LONG}" for number in range(100))
    made = cut("T", "S", [], body, most=11)
    assert (len(made.pieces), made.left_out) == (11, 124)
    starts = [piece.start for piece in made.pieces[1:]]
    assert starts == sorted(starts) and starts[-1] > len(body) * 0.85


def test_nothing_has_no_pieces_and_a_title_alone_has_one():
    assert cut("", "", [], " \n ", most=64).pieces == []
    assert [piece.text for piece in cut("Only", "", [], "", most=64).pieces] == ["Only"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Plain English.", "en"), ("Où est la bibliothèque?", "en"), ("部署到K8s集群之后重启 gateway", "zh"),
        ("The word 护城河 means a moat in Chinese texts", "en"), ("これは日本語の文です。漢字もある", "other"),
        ("Где находится", "other"), ("12:30 -> 14:00", "other"), ("한국어 문장입니다", "other"),
    ],
)  # fmt: skip
def test_the_language_is_that_of_most_words(text, language):
    assert language_of(text) == language


def test_the_same_text_has_the_same_hash_and_another_title_another():
    one, same, other = (cut(title, "", [], LONG * 4, most=64).pieces[-1] for title in ("T", "T", "U"))
    assert one.text_hash == same.text_hash != other.text_hash
