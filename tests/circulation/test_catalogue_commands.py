"""``masthead catalogue`` as it is typed, on both stores."""

from __future__ import annotations

from tests.circulation.shop import MONTHS, refused, run, summaries


def test_the_catalogue_is_added_listed_changed_and_retired(shop: str) -> None:
    assert run(shop, "catalogue", "publication", "list") == [
        (
            "1\tTide\t12 issues a year\tlate start: next\tgrace counts: no\tcredit: 1 issues\t"
            "unlimited terms: 12 months"
        )
    ]
    assert run(shop, "catalogue", "bundle", "list") == [
        "1\tA year\t35.00 USD and tax 2.45 USD",
        "  publication 1: 12 issues, Print, 35.00 USD",
        "2\tFor life\t300.00 USD and tax 0.00 USD",
        "  publication 1: unlimited, Digital, 300.00 USD",
    ]
    assert run(shop, "catalogue", "publication", "set", 1, "--grace-counts") == [
        "publication 1: changed grace_counts"
    ]
    assert run(shop, "catalogue", "bundle", "set", 1, "--price=36") == [
        "bundle 1: changed price, lines"
    ]
    assert run(shop, "catalogue", "bundle", "set", 1, "--price=36") == [
        "nothing changed: it has these values already"
    ]
    assert run(shop, "catalogue", "bundle", "retire", 2) == ["bundle 2 was retired"]
    assert len(run(shop, "catalogue", "bundle", "list")) == 2
    assert run(shop, "catalogue", "bundle", "list", "--all")[2].endswith("\tretired")
    assert run(shop, "catalogue", "bundle", "set", 2, "--active") == ["bundle 2: changed active"]
    assert run(shop, "catalogue", "publication", "retire", 1) == [
        "retired with publication 1: bundles 1, 2"
    ]
    assert run(shop, "catalogue", "product", "list") == ["1\tMug\t9.00 USD and tax 0.00 USD"]
    assert run(shop, "catalogue", "product", "set", 1, "--tax=0.63") == ["product 1: changed tax"]
    issue = f"1\tpublication 1\t{MONTHS[0]}\tNo. 1 (no. 1)\tplanned"
    assert run(shop, "catalogue", "issue", "list")[0] == issue
    assert run(shop, "catalogue", "issue", "set", 1, "--name=January") == ["issue 1: changed name"]
    assert run(shop, "catalogue", "issue", "retire", 4) == ["issue 4 was taken out of the plan"]
    assert len(run(shop, "catalogue", "issue", "list")) == 3
    assert summaries(shop)[-1] == "issue 4 was taken out of the plan"


NOT_HELD = [
    (("bundle", "add", "B", "--line=9:12:Print:1"), "account 1 has no publication 9"),
    (("bundle", "add", "B", "--line=1:12:Print:1", "--price=2"), "the bundle's is 2.00"),
    (("bundle", "add", "B", "--line=1:12:Print:1", "--line=1:6:Print:1"), "one line for it"),
    (("bundle", "set", "9", "--price=2"), "has no bundle 9"),
    (("product", "retire", "9"), "has no product 9"),
    (("issue", "set", "9", "--name=x"), "has no issue 9"),
    (("issue", "add", "x", "--publication=9", "--date=2190-01-01"), "has no publication 9"),
    (("issue", "set", "2", f"--date={MONTHS[0]}"), "issue 1 of publication 1 is of"),
    (("publication", "add", ""), "the name is empty: give the publication one"),
    (("bundle", "add", " ", "--line=1:12:Print:1"), "the name is empty: give the bundle one"),
    (("bundle", "set", "1", "--name="), "the name is empty"),
    (("product", "set", "1", "--name="), "the name is empty"),
    (("issue", "add", "", "--publication=1", "--date=2190-01-01"), "the name is empty"),
]


def test_what_the_catalogue_cannot_hold_is_refused(stocked: str) -> None:
    before = summaries(stocked)
    for arguments, said in NOT_HELD:
        assert said in refused(stocked, "catalogue", *arguments)
    assert summaries(stocked) == before
