"""Spans of days (circulation, "What is stored in addition")."""

from masthead.circulation.spans import Span, uncovered


def test_a_span_until_the_last_day_that_there_is_has_nothing_after_it() -> None:
    until_the_end = Span(1, "2026-05-01", "9999-12-31")
    assert uncovered(Span(0, "2026-04-01", "9999-12-31"), [until_the_end]) == [
        ("2026-04-01", "2026-04-30")
    ]
    assert uncovered(Span(0, "2026-06-01", None), [until_the_end]) == []
