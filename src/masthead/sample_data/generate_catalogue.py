"""The catalogue of the made-up publisher: bundles, products, efforts, reasons and classes.

It depends neither on the seed nor on the number of readers. Bundle 12 is two years of publication
1; the made-up sales refer to it. Amounts are whole cents, net of tax.
"""

from typing import NamedTuple

from masthead.contract.subscription_types import UNLIMITED
from masthead.sample_data.generate_publisher import Publication, Row

YEARS = (1, 2, 3)
"""The lengths, in years, of the terms on sale."""

PRODUCTS = (
    (501, "Tide tables", 1, 1250),
    (502, "The harbor cookbook", 1, 2499),
    (503, "Postcard", 1, 10),
    (504, "Canvas bag", 1, 3900),
    (505, "Binder for a year", 1, 1905),
    (506, "Bookmark", 0, 20),
)
"""Id, name, whether it is for sale, and price; 0.10 + 0.20 is inexact in binary floating point."""

REASONS = ("Moved abroad", "No time to read", "Too expensive")
"""The reasons for cancelling; their ids are 1, 2, 3, …"""

_OWN_CLASS = "hotel"

_DIGITAL, _BOTH, _UNLIMITED = 4, 5, 6
"""The last digits of a publication's other bundles."""

_PAIR, _TRIAL, _RETIRED = 61, 62, 69
_TRIAL_ISSUES, _TRIAL_CENTS = 3, 990
_TAX = 700
#: The issues left at which letters are due, by issues per year.
_EFFORTS = {52: (8, 4, 0, -4), 12: (3, 1, 0, -2), 6: (2, 1, 0, -1), 4: (1, 0, -1)}


class _Line(NamedTuple):
    publication: Publication
    issues: int
    type: str
    price: int


def price_of(publication: Publication, years: int) -> int:
    """Return the price of this number of years, with 10 % off for each year after the first."""
    return publication.price * years * (11 - years) // 10


def catalogue_rows(publications: tuple[Publication, ...]) -> dict[str, list[Row]]:
    """Return the rows of bundles, their lines, products and renewal efforts."""
    rows: dict[str, list[Row]] = {"bundles": [], "bundle_lines": []}
    for publication in publications:
        _add_bundles(rows, publication)
    harbor, _, garden, *_ = publications
    pair = [_Line(p, p.issues_per_year, "Print", p.price * 9 // 10) for p in (harbor, garden)]
    _add(rows, _PAIR, f"{harbor.name} and {garden.name}, 1 year", pair)
    trial = _Line(harbor, _TRIAL_ISSUES, "Print", _TRIAL_CENTS)
    _add(rows, _TRIAL, f"{harbor.name}, trial of {_TRIAL_ISSUES} issues", [trial])
    everything = [_Line(p, p.issues_per_year, "Print", p.price * 8 // 10) for p in publications]
    _add(rows, _RETIRED, "Everything for a year", everything, active=0)
    return {
        **rows,
        "cancellation_reasons": [*enumerate(REASONS, 1)],
        "classes": [(1, _OWN_CLASS)],
        "products": [(*product, _tax(product[-1])) for product in PRODUCTS],
        "renewal_efforts": [
            (publication.publication_id, effort, issues_left, *_bundle_of(publication, effort))
            for publication in publications
            for effort, issues_left in enumerate(_EFFORTS[publication.issues_per_year], 1)
        ],
    }


def _bundle_of(publication: Publication, effort: int) -> tuple[int, str]:
    """Return the bundle that a letter names, a year in print, and its key code."""
    number = publication.publication_id
    return number * 10 + 1, f"P{number}E{effort}"


def _add_bundles(rows: dict[str, list[Row]], publication: Publication) -> None:
    """Add the bundles of one publication: years, digital, both, unlimited."""
    first, name = publication.publication_id * 10, publication.name
    a_year, price = publication.issues_per_year, publication.price
    for years in YEARS:
        line = _Line(publication, a_year * years, "Print", price_of(publication, years))
        _add(rows, first + years, f"{name}, {years} year{'s' if years > 1 else ''}", [line])
    has_digital = "Digital" in publication.types
    if has_digital:
        line = _Line(publication, a_year, "Digital", price * 7 // 10)
        _add(rows, first + _DIGITAL, f"{name}, 1 year digital", [line])
    line = _Line(publication, a_year, "Both", price * 12 // 10)
    _add(rows, first + _BOTH, f"{name}, 1 year print and digital", [line])
    kind = "Digital" if has_digital else "Print"
    line = _Line(publication, UNLIMITED, kind, price * 2)
    _add(rows, first + _UNLIMITED, f"{name}, unlimited", [line])


def _add(
    rows: dict[str, list[Row]], bundle_id: int, name: str, lines: list[_Line], active: int = 1
) -> None:
    price = sum(line.price for line in lines)
    rows["bundles"].append((bundle_id, name, active, price, _tax(price)))
    rows["bundle_lines"] += [
        (bundle_id, number, line.publication.publication_id, line.issues, line.type, 1, line.price)
        for number, line in enumerate(lines, 1)
    ]


def _tax(cents: int) -> int:
    """Return the sales tax of an amount, in cents."""
    return (cents * _TAX + 5000) // 10000
