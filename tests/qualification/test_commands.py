"""``masthead qualification`` from the form to what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import qualification_forms
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.errors import BadInput
from tests.circulation.shop import refused
from tests.circulation.shop import run as program
from tests.qualification.press import ASKED, CHIEF, CLASSES, qualify, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

FILE = """
[[class]]
code = "chief"
name = "Chief executives"
quota = 5000
when.job = "chief"

[[class]]
code = "large"
served = false
[class.when]
size = ["large"]
"Your industry?" = ["Steel"]
"""


def test_a_form_is_set_and_shown(press: Desk, tmp_path: Path) -> None:
    def run(*words: str) -> list[str]:
        return program(press.url, "qualification", *words)

    assert "nobody can qualify for it; `masthead qualification form 2`" in refused(
        press.url, "qualification", "form", "2"
    )
    (done,) = run("form", "2", "--field=job:required", "--field=industry:other", "--type=Digital")
    assert done == (
        "publication 2 (Tide) has a form: 2 questions, valid for 36 months, quotas filled by "
        "newest, Digital"
    )
    run("form", "2", "--agreed-text=Free, please", "--months=12")
    assert run("form", "2") == [
        "publication 2 (Tide): valid for 12 months, quotas filled by newest, Digital",
        "  job (radio), required",
        "    Chief",
        "    Engineer",
        "    Student  disqualifies",
        "  industry (checkbox), another answer is allowed",
        "    Steel",
        "  readers agree to: Free, please",
    ]
    file = tmp_path / "classes.toml"
    file.write_text(FILE, encoding="utf-8")
    assert run("classes", "1", f"--from={file}", "--dry-run")[-1].endswith("a dry run")
    run("classes", "1", f"--from={file}")
    assert run("classes", "1") == [
        "1  chief  Chief executives  served, at most 5000 copies  job: Chief",
        "2  large  large  not served  industry: Steel  size: Large",
        "3  unclassified  Unclassified  served",
    ]
    run("request-types", "--add", "fair", "At a fair", "--not-asked")
    assert run("request-types")[-1] == "8  fair  At a fair  the reader does not ask"
    answers = ("--answer=job=chief", "--answer=industry=Glass", "--evidence=call=7")
    (done,) = run("add", "1", "1", "--on=2026-04-10", "--request=fair", *answers, "--taken-by=Ben")
    assert "class chief, valid until 2029-04-09; subscription 1 began" in done
    adding = ("qualification", "add", "1", "1", "--on=2026-04-10", "--request=fair", *answers)
    twice = refused(press.url, *adding, "--evidence=call=8", exit_status=2)
    assert "--evidence gives one name twice" in twice
    shown = run("show", "1")
    assert shown[:-1] == [
        "1  Forge  2026-04-10  valid until 2029-04-09  At a fair  class chief  counts now",
        "    Your job? Chief",
        "    Your industry? Glass",
        "    evidence: call: 7",
    ]
    assert shown[-1].endswith("by Ben")
    assert run("show", "2") == ["the reader has no qualification"]
    for words, why in (
        (("99",), "no subscriber 99; `masthead sub"),
        (("2", "99"), "no publication 99"),
    ):
        assert why in refused(press.url, "qualification", "show", *words)


def test_an_option_without_a_value_is_named_as_readers_see_it(press: Desk) -> None:
    form = qualification_forms.form(press.books, 1)
    job, *_ = form.questions
    silent = job.options[0]._replace(value="", display_as="Prefer not to say")
    asked = form._replace(questions=(job._replace(options=(silent, job.options[1])),))
    with pytest.raises(BadInput, match=r"options are Prefer not to say, engineer$"):
        qualification_forms.read_answers(asked, [("job", "king")])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[class]", "it is not TOML"),
        ("[[class]]\nname = 'x'", "class 1: it has no code"),
        ("[[class]]\ncode = 7", "class 1: code is not str"),
        ("[[class]]\ncode = 'a'\nsize = 7", "class 1: 'size' is not one of code, name"),
        ("[[class]]\ncode = 'a'\nwhen.job = 7", "class 1: 'job' has a list of options"),
        ("quota = 7", "it has tables [[class]] and nothing else, but has 'quota' too"),
        ("", "and nothing else, but has none"),
    ],
)
def test_a_file_of_classes_that_is_wrong_says_where(
    press: Desk, tmp_path: Path, text: str, why: str
) -> None:
    file = tmp_path / "classes.toml"
    file.write_text(text, encoding="utf-8")
    assert why in refused(press.url, "qualification", "classes", "1", f"--from={file}")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (GivenClass("A", conditions={"job": ["chief"]}), "class 'A': a code has lower-case"),
        (GivenClass("a"), "class 'a': it has no condition"),
        (GivenClass("unclassified", conditions={"job": ["chief"]}), "it takes all others"),
        (GivenClass("a", conditions={"age": ["1"]}), "does not ask for 'age': it asks for job"),
        (GivenClass("a", conditions={"job": ["king"]}), "has no option 'king': its options are"),
        (GivenClass("a", conditions={"job": []}), "has no option that would hold"),
        (GivenClass("a", quota=-1, conditions={"job": ["chief"]}), "a quota is a number of copies"),
        (GivenClass("a", "x" * 81, conditions={"job": ["chief"]}), "a name has at most 80"),
    ],
)
def test_classes_are_replaced_all_or_none(press: Desk, given: GivenClass, why: str) -> None:
    before = press.everything()
    with pytest.raises(BadInput, match=why):
        qualification_forms.set_classes(press.books, 1, (CLASSES[0], given))
    assert press.everything() == before


def test_the_class_of_all_others_is_the_last_and_no_class_stands_twice(press: Desk) -> None:
    for classes, why in (
        ((CLASSES[2], CLASSES[0]), "it is the last class"),
        ((CLASSES[0], CLASSES[0]), "it stands there twice"),
    ):
        with pytest.raises(BadInput, match=why):
            qualification_forms.set_classes(press.books, 1, classes)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (FormValues(months=0), "valid for 1 to 120 months"),
        (FormValues(fills="luck"), "filled by newest, class, request"),
        (FormValues(type="Paper"), "'Paper' is not one of Print"),
        (FormValues(agreed_text="x" * 2_001), "longer than 2,000 characters"),
        (FormValues((Asked("age"),)), "there is no custom field 'age', or several: those of"),
        (FormValues((Asked("job"), Asked("Your job?"))), "'job' is asked twice"),
        (FormValues(ASKED[:2]), "the class engineer needs an answer that the form would not ask"),
    ],
)
def test_a_form_that_is_wrong_changes_nothing(press: Desk, values: FormValues, why: str) -> None:
    before = press.everything()
    with pytest.raises(BadInput, match=why):
        qualification_forms.set_form(press.books, 1, values)
    assert press.everything() == before


@pytest.mark.parametrize(
    ("code", "name", "why"),
    [
        ("Fair", "At a fair", "the code of a request type has"),
        ("fair", " ", "a name has 1 to 80 characters"),
        ("web", "Again", "there is a request type web already"),
    ],
)
def test_a_request_type_that_is_wrong_is_not_added(
    press: Desk, code: str, name: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        qualification_forms.add_request_type(press.books, code, name)


def test_other_months_do_not_change_what_was_said(press: Desk) -> None:
    qualify(press, 1, "2026-04-10", said(CHIEF))
    qualification_forms.set_form(press.books, 1, FormValues(months=12))
    assert press.subscription(1)["date_expired"] == "2029-04-09"
    assert qualify(press, 1, "2026-04-10", said(CHIEF)).valid_until == "2027-04-09"
    assert press.subscription(1)["date_expired"] == "2027-04-09"
