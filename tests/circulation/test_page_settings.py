"""The settings of the readers' pages: what they accept, and what they say of other values."""

from __future__ import annotations

import base64

import pytest

from masthead.circulation.page_settings import (
    RESERVED,
    SETTINGS,
    PageSettings,
    Purpose,
    settings_from,
    stored_text,
    texts_of,
)
from masthead.errors import BadInput

PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n").decode()


def test_a_setting_that_is_not_set_has_its_default() -> None:
    settings = settings_from(())
    assert settings == PageSettings()
    assert (settings.languages, settings.cancel) == (("en", "de"), "at_end")
    assert (settings.pause_days, settings.pause_notice) == (60, 3)
    assert (settings.missing_copies, settings.missing_copy_days) == (2, 60)
    assert (settings.pay_by_invoice, settings.pay_by_mandate) == (True, False)
    assert texts_of(settings) == {each.name: each.default for each in SETTINGS}


def test_each_default_is_a_value_that_can_be_given() -> None:
    for each in SETTINGS:
        assert stored_text(each.name, each.default) == each.default


def test_each_setting_has_a_meaning_of_one_line() -> None:
    for each in SETTINGS:
        assert each.meaning.endswith("."), each
        assert len(each.meaning) <= 75, each


@pytest.mark.parametrize(
    ("name", "text", "stored", "value"),
    [
        ("site", "Tide-2", "tide-2", "tide-2"),
        ("languages", "DE, en,de", "de,en", ("de", "en")),
        ("colour", "#0A4d68", "#0A4d68", "#0A4d68"),
        ("privacy_url", "https://tide.example/privacy?a=1", None, None),
        ("contact", "desk@tide.example", None, None),
        ("pause", "0", "no", False),
        ("pause_days", "030", "30", 30),
        ("cancel", "At_Once", "at_once", "at_once"),
        (
            "purposes",
            " news = News from us; calls=Calls, in the evening ",
            "news=News from us;calls=Calls, in the evening",
            (Purpose("news", "News from us"), Purpose("calls", "Calls, in the evening")),
        ),
        ("logo", PNG, None, None),
    ],
)
def test_a_value_is_stored_in_one_form_that_is_read_again(
    name: str, text: str, stored: str | None, value: object
) -> None:
    stored = text if stored is None else stored
    assert stored_text(name, f" {text} ") == stored
    assert stored_text(name, stored) == stored
    assert getattr(settings_from([(name, stored)]), name) == (stored if value is None else value)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("site", "two words", "not a short name of letters, digits and hyphens"),
        ("site", "-tide", "not a short name"),
        ("site", "../etc", "not a short name"),
        ("site", "ti\nde", "not a short name"),
        ("site", "t" * 41, "not a short name"),
        ("site", "tide\u200b", "not a short name"),
        *[("site", name, "a path of the server itself") for name in RESERVED],
        ("name", "Tide\r\nBcc: all@example.org", "cannot be printed"),
        ("colour", "teal", "not a colour"),
        ("languages", "english", "not the code of a language"),
        ("languages", "en,", "not the code of a language"),
        ("contact", "desk", "not an email address"),
        ("imprint_url", "http://tide.example", "not an address that begins with https://"),
        ("imprint_url", "javascript:alert(1)", "not an address that begins with https://"),
        ("imprint_url", "https://", "not an address that begins with https://"),
        ("terms_url", "https://a@b.example/", "not an address that begins with https://"),
        ("terms_url", 'https://a.example/"', "not an address that begins with https://"),
        ("privacy_url", "https://[", "not an address that begins with https://"),
        ("shop_url", "https://a.example/\nx", "not an address that begins with https://"),
        ("pause_days", "0", "not a number from 1 to 366"),
        ("cancel", "never", "not one of at_end, at_once, no"),
        ("gift", "maybe", "not yes or no"),
        ("purposes", "news", "not a purpose such as news=News from us"),
        ("purposes", "news=", "not a purpose"),
        ("purposes", "news=A;news=B", "two purposes have the same name"),
        ("logo", "logo.png", "a PNG, JPEG or SVG, as a data URL"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_what_would_be_right(
    name: str, text: str, why: str
) -> None:
    with pytest.raises(BadInput, match=rf"(?s)^{name}: .*{why}"):
        stored_text(name, text)


def test_a_wrong_name_gets_the_near_one() -> None:
    with pytest.raises(BadInput, match="the readers' pages has no setting 'pauses': did you mean"):
        stored_text("pauses", "yes")


def test_a_logo_has_its_media_type_and_its_bytes() -> None:
    assert settings_from([("logo", PNG)]).logo_picture == ("image/png", b"\x89PNG\r\n")
    assert PageSettings().logo_picture is None
