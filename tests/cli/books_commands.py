"""Each command of the books, with arguments that work on the small publisher, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bank_files.debits import Status, report
from tests.circulation.today import TODAY

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = f"{TODAY.year}-000001"
"""The first invoice."""

MONTH = "2190-01"
"""A month that has not ended, so it cannot be closed, and nothing is booked to it."""

REFUSED = {
    *("billing close", "mail cancel", "mail release"),
    *("debit run", "debit file", "debit cancel", "debit collected", "debit returns"),
}
"""What works on a small publisher only after a month, after a mail, or in euros."""

BOOKS_COMMANDS: dict[str, tuple[str, ...]] = {
    "books open": (),
    "books undo": ("--dry-run",),
    "books show": (),
    "catalogue publication add": ("Ebb",),
    "catalogue publication list": (),
    "catalogue publication set": ("1", "--credit-issues=2"),
    "catalogue publication retire": ("2",),
    "catalogue issue add": ("May", "--publication=1", "--date=2190-05-01"),
    "catalogue issue list": (),
    "catalogue issue set": ("2", "--name=June"),
    "catalogue issue retire": ("2", "--dry-run"),
    "catalogue bundle add": ("Half a year", "--line=1:6:Digital:20"),
    "catalogue bundle list": (),
    "catalogue bundle set": ("7", "--tax=1.00", "--readers=renew,buy"),
    "catalogue bundle retire": ("7", "--dry-run"),
    "catalogue product add": ("Pen", "--price=3"),
    "catalogue product list": (),
    "catalogue product set": ("1", "--tax=0.20"),
    "catalogue product retire": ("1",),
    "catalogue class add": ("airline",),
    "catalogue class list": (),
    "catalogue reason add": ("no time to read",),
    "catalogue reason list": (),
    "catalogue reason remove": ("1",),
    "order add": ("--subscriber=2", "--bundle=7"),
    "order import": ("{}/orders.csv",),
    "order show": ("2",),
    "order pay": ("2",),
    "order allowance": ("2", "--amount=1.00"),
    "order dispute": ("2", "--because=never ordered"),
    "order settle": ("2", "--rejected"),
    "note add": ("1", "Called twice"),
    "complaint add": ("1", "1", "--kind=lost", "--dry-run"),
    "complaint list": (),
    "replacement add": ("1", "--issue=1"),
    "replacement list": (),
    "replacement remove": ("1", "--dry-run"),
    "replacement file": ("{}/replacements.csv",),
    "subscriber find": ("ada",),
    "subscriber show": ("1",),
    "subscriber duplicates": (),
    "subscriber merge": ("1", "--into=2", "--dry-run"),
    "subscriber move": ("1", "--address=1 Quay", "--city=Hull"),
    "subscriber login": ("1", "--new-code"),
    "subscription show": ("1",),
    "subscription set": ("1", "--copies=2", "--free"),
    "subscription suspend": ("1", "--from=2190-08-01"),
    "subscription resume": ("1",),
    "subscription extend": ("1",),
    "subscription address": ("1", "--address=1 Quay", "--city=Hull"),
    "issue list": (),
    "issue close": ("2",),
    "issue gap": ("2",),
    "issue reopen": ("2", "--dry-run"),
    "issue file": ("2", "{}/mail.csv"),
    "issue labels": ("2", "{}/labels.pdf"),
    "renewals efforts set": ("2", "--publication=1", "--issues-left=1"),
    "renewals efforts list": (),
    "renewals efforts remove": ("2", "--publication=1"),
    "renewals select": ("--preview",),
    "report press-run": ("2",),
    "report circulation": ("2",),
    "report liability": (),
    "report expiries": (),
    "report renewals": (),
    "order refund": ("2",),
    "billing settings": (
        "seller_name=Tide Press",
        "seller_street=1 Quay",
        "seller_city=Hull",
        "seller_country=GB",
        "seller_tax_number=1234567890",
        "mail_from=press@example.org",
    ),
    "issue covers": ("2", "{}/covers.pdf"),
    "letter welcome": ("--to={}/welcome.pdf",),
    "billing rates add": ("DE", "print", "7", "--from=2190-01-01"),
    "billing rates list": (),
    "billing rates remove": ("1",),
    "billing shipping add": ("Print", "5.00", "--from=2190-01-01"),
    "billing shipping list": (),
    "billing shipping remove": ("1",),
    "billing begin": (),
    "subscription consent give": ("1", "--bundle=7", "--words=yes, each year"),
    "subscription consent show": ("1",),
    "renewals automatic": (),
    "renewals announcements": ("--to={}/announcements.pdf",),
    "subscription consent stop": ("1",),
    "billing close": (MONTH,),
    "payer set": ("1", "--vat-id=ATU57194903"),
    "invoice make": ("3",),
    "invoice show": (NUMBER,),
    "invoice list": (),
    "invoice pdf": (NUMBER, "--into={}/invoices"),
    "payment add": (f"--invoice={NUMBER}", "--amount=500"),
    "payment list": ("1",),
    "payment refund": ("1", "--amount=1"),
    "invoice credit": (NUMBER, "--amount=1", "--reason=arrived late"),
    "payment reverse": ("1", "--fee=3"),
    "invoice write-off": (NUMBER, "--dry-run"),
    "invoice cancel": (NUMBER, "--reason=ordered twice"),
    "payer statement": ("1",),
    "reminders levels set": ("1", "--days=10"),
    "reminders levels list": (),
    "reminders select": (),
    "reminders send": (),
    "reminders pdf": ("--into={}/reminders",),
    "reminders levels remove": ("1",),
    "mail send": ("--into={}/mails",),
    "mail list": (),
    "mail retry": ("--failed",),
    "mail cancel": ("1",),
    "mail bounces": ("{}/payout.csv",),
    "mail held": (),
    "mail release": ("ada@example.org",),
    "journal export": (f"--month={MONTH}", "--to={}/journal.csv"),
    "journal check": (),
    "journal balances": (),
    "subscription cancel": ("1",),
    "letter cancellation": ("--to={}/cancelled.pdf",),
    "subscription uncancel": ("1", "--dry-run"),
    "payment import": ("{}/payout.csv", "--map={}/payout.toml"),
    "payment proposals": (),
    "payment confirm": ("1",),
    "payment split": ("2", "--payer=1=0.40", "--payer=2=0.60", "--dry-run"),
    "payment assign": ("2", "--payer=2"),
    "payment ignore": ("3", "--reason=not ours"),
    "mandate add": ("1", "--iban=DE02120300000000202051"),
    "mandate list": (),
    "mandate rest": ("M1-1",),
    "mandate resume": ("M1-1",),
    "mandate end": ("M1-1", "--reason=revoked"),
    "debit run": ("--on=2190-01-01",),
    "debit list": (),
    "debit file": ("1", "{}/debits.xml"),
    "debit cancel": ("1",),
    "debit collected": ("1", "--on=2190-01-01"),
    "debit returns": ("{}/report.xml",),
    "qualification form": ("1", "--field=trade:required", "--months=24"),
    "qualification classes": ("1", "--from={}/classes.toml"),
    "qualification request-types": ("--add", "fair", "At a fair"),
    "qualification add": (
        *("1", "1", "--on=2026-01-05", "--request=web", "--answer=trade=f"),
        *("--evidence=call=7", "--dry-run"),
    ),
    "qualification import": ("1", "{}/qualifications.csv"),
    "qualification show": ("1",),
    "qualification efforts set": ("1", "--publication=1", "--days-before=60", "--by=telephone"),
    "qualification efforts list": (),
    "qualification select": (),
    "qualification send": ("1", "--publication=1", "--to={}/calls.csv"),
    "qualification efforts remove": ("1", "--publication=1"),
    "qualification sample": ("2", "--every=10"),
    "report audit": ("2",),
}
"""The words that call it, and the arguments beside the account; ``{}`` is a folder."""


def books_commands(folder: str) -> dict[str, tuple[str, ...]]:
    """Return the commands with all of their arguments; the folder takes the place of ``{}``."""
    return {
        words: (*(each.format(folder) for each in arguments), "--account=1")
        for words, arguments in BOOKS_COMMANDS.items()
    }


def write_orders(folder: Path) -> None:
    """Write the files that some of the commands read: of orders, a card provider, and a bank."""
    (folder / "payout.csv").write_text(
        f"day,gross,text\n2026-11-02,5.00,{NUMBER}\n2026-11-02,1.00,a\n2026-11-02,2.00,b\n",
        encoding="utf-8",
    )
    (folder / "payout.toml").write_text(
        "[columns]\ndate = 'day'\namount = 'gross'\nreference = 'text'\n", encoding="utf-8"
    )
    (folder / "report.xml").write_text(report("MH1", claims=[Status("MH1-1")]), encoding="utf-8")
    (folder / "classes.toml").write_text(
        "[[class]]\ncode = 'farm'\nwhen.trade = ['f']\n", encoding="utf-8"
    )
    (folder / "qualifications.csv").write_text(
        "subscriber_id,qualified_on,request_type,trade\n1,2026-01-05,web,f\n", encoding="utf-8"
    )
    (folder / "orders.csv").write_text(
        "external_reference,subscriber_id,bundle_id\nA-1,1,7\n", encoding="utf-8"
    )
