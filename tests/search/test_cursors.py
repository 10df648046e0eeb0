import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.search.cursors import MAX_DEPTH, Cursor, decode, encode, query_hash
from apps.search.errors import CursorInvalid

HASH = query_hash("retry policy", {"scope_keys": ["library"]})


def test_a_cursor_comes_back_as_it_was():
    cursor = Cursor(HASH, 20, 417)
    assert decode(encode(cursor), HASH) == cursor
    assert not cursor.is_stale(417)
    assert cursor.is_stale(418)


def test_other_words_or_other_filters_are_another_search():
    cursor = encode(Cursor(HASH, 20, 417))
    for other in (query_hash("retry", {"scope_keys": ["library"]}), query_hash("retry policy", {"scope_keys": []})):
        with pytest.raises(CursorInvalid):
            decode(cursor, other)


@pytest.mark.parametrize(("offset", "head"), [(MAX_DEPTH + 1, 1), (-1, 1), (10, -1), (1.5, 1), (True, 1), ("10", 1)])
def test_a_made_up_place_is_refused(offset, head):
    with pytest.raises(CursorInvalid):
        decode(encode(Cursor(HASH, offset, head)), HASH)


@given(text=st.text(max_size=60) | st.binary(max_size=60).map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_text_that_is_no_cursor_is_refused_clearly(text):
    with pytest.raises(CursorInvalid):
        decode(text, HASH)
