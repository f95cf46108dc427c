"""Status reports of banks: what they reject, and what they are refused for."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from masthead.bank_files import pain002
from masthead.bank_files.entries import BadValueError
from masthead.bank_files.xml_nodes import DEPTH_MAX
from masthead.billing.return_reasons import reason_in, reason_of
from tests.bank_files.debits import Status, check_schema, report

if TYPE_CHECKING:
    from masthead.bank_files.pain002 import Rejection


def _read(text: str) -> list[Rejection]:
    return list(pain002.read(io.BytesIO(text.encode())))


def _said(text: str) -> list[tuple[str, str, str, str]]:
    return [(each.level, each.message_id, each.name, each.code) for each in _read(text)]


@pytest.mark.parametrize("version", [3, 10, 14])
def test_a_rejected_claim_has_its_reason_and_fee(version: int) -> None:
    text = report("MH1", claims=[Status("E1", "AM04", fee="3.50")], version=version)
    (found,) = _read(text)
    assert found[:-1] == ("claim", "MH1", "E1", "AM04", "", 350, "2026-04-14")


def test_a_rejected_batch_and_a_rejected_file_are_named() -> None:
    assert _said(report("MH1", batch=Status("MH1-CORE-RCUR", "FF01"))) == [
        ("batch", "MH1", "MH1-CORE-RCUR", "FF01")
    ]
    assert _said(report("MH1", group=Status("", "TM01"))) == [("file", "MH1", "", "TM01")]


def test_what_is_accepted_or_on_its_way_is_no_rejection() -> None:
    text = report(
        "MH1",
        group=Status("", state="PART"),
        batch=Status("B", state="ACSP"),
        claims=[Status("E1", state="ACSC"), Status("E2", "MD01"), Status("E3", state="PDNG")],
    )
    assert _said(text) == [("claim", "MH1", "E2", "MD01")]


@pytest.mark.parametrize("version", [3, 12, 14, 15])
@pytest.mark.parametrize(
    "said",
    [
        {"claims": [Status("E1", "AM04", fee="3.50"), Status("E2", "", text="Konto erloschen")]},
        {"batch": Status("MH1-CORE-RCUR", "FF01")},
        {"group": Status("", "TM01")},
        {
            "group": Status("", state="PART"),
            "batch": Status("B", state="ACSP"),
            "claims": [Status("E1", state="ACSC"), Status("E2", "MD01")],
        },
    ],
    ids=["claims", "batch", "file", "parts"],
)
def test_the_reports_that_are_read_here_are_valid(version: int, said: dict[str, Any]) -> None:
    """billing, "What must hold", 3: by the published schemas, as far as packages carry them."""
    check_schema(report("MH1", version=version, **said).encode())


def test_a_reason_of_the_bank_alone_is_its_text() -> None:
    (found,) = _read(report("MH1", claims=[Status("E1", "", text="Konto erloschen")]))
    assert (found.code, found.text) == ("", "Konto erloschen")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<a/>", "is XML, but not a status report of a bank"),
        (
            report("MH1", claims=[Status("")]),
            "line 6: a claim is rejected, and the report does not",
        ),
        (report("MH1", batch=Status("")), "a batch is rejected, and the report does not name it"),
        (report("", group=Status("")), "a whole file is rejected, and the report does not name it"),
        (report("MH1", version=99), "is version 99 of pain.002, and the versions 03 to 15 are"),
        (report("MH1").replace("pain.002", "pain.001", 1), "is XML, but not a status report"),
        (report("MH1").replace("</CstmrPmtStsRpt>", ""), "is not well-formed XML"),
        (
            report("MH1").replace("?>", '?><!DOCTYPE a [<!ENTITY b "c">]>', 1),
            "names a document type, whose entities are not read",
        ),
        (report("MH1").replace("MH1", "<a>" * 40 + "</a>" * 40, 1), f"deeper than {DEPTH_MAX}"),
    ],
)
def test_other_files_and_hostile_ones_are_refused(text: str, said: str) -> None:
    with pytest.raises(BadValueError, match=said):
        _read(text)


def test_a_reason_is_the_code_with_its_words() -> None:
    assert reason_of("AC04") == "AC04 the account is closed"
    assert reason_of("am04", "whatever the bank wrote") == "AM04 insufficient funds"
    assert reason_of("XT99", "Other") == "XT99 Other"
    assert reason_of("", "Konto erloschen") == "Konto erloschen"
    assert reason_of("") == "the bank gave no reason"
    assert reason_in("MD01 kein Mandat") == "MD01 no mandate"
    assert reason_in("returned") == "returned"
