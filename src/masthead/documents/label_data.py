"""What the templates of labels and cover sheets get (docs/documents.md)."""

from typing import Any

from masthead.billing.printed import Payer
from masthead.billing.printed_letters import PrintedCover, PrintedLabels
from masthead.documents.label_sheets import sheet_named
from masthead.documents.words import Look, Words, address_lines, country_name, shared_data, text_of


def labels_data(printed: PrintedLabels, _look: Look) -> dict[str, Any]:
    """Return what a template gets of labels on sheets; they have no letterhead."""
    sheet = sheet_named(printed.sheet)
    return {
        "language": printed.language,
        "title": text_of(f"{printed.publisher} {sheet.name}"),
        "author": text_of(printed.publisher),
        "date": printed.written_on,
        "sheet": {
            name: value
            for name, value in sheet._asdict().items()
            if name not in {"name", "meaning"}
        },
        "skip": printed.skip,
        "labels": [
            {
                "address": address_lines(each.address, printed.home, printed.language),
                "keyline": text_of(each.keyline),
                "copies": each.copies,
            }
            for each in printed.labels
        ],
    }


def cover_data(printed: PrintedCover, look: Look) -> dict[str, Any]:
    """Return what a template gets of the sheet on a bundle of copies."""
    words = Words(printed.language, "EUR")
    nobody = Payer(subscriber_id=0)
    country = country_name(printed.country, printed.language) or printed.country_name
    return shared_data(
        printed.seller,
        nobody,
        words=words,
        day=printed.written_on,
        title=printed.publication,
        look=look,
    ) | {
        "written_on": words.day(printed.written_on),
        "publication": text_of(printed.publication),
        "issue": text_of(printed.issue),
        "issue_on": words.day(printed.issue_on),
        "number": printed.number,
        "bundles": printed.bundles,
        "country": text_of(country),
        "first_code": text_of(printed.first_code),
        "last_code": text_of(printed.last_code),
        "pieces": printed.pieces,
        "copies": printed.copies,
    }
