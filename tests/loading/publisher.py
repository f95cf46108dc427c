"""An account to load files into: its database, what it then holds, and a small valid publisher."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.loading.export import export
from masthead.loading.limits import Limit
from masthead.loading.load import Loaded, Options, load
from masthead.store import accounts, exporting, open_store, removing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from masthead.store import Connection, Store

SMALL: dict[str, str] = {
    "publications.csv": "publication_id,name\n1,Tide\n2,Harbour\n",
    "issues.csv": "issue_id,publication_id,name,date\n1,1,Spring,2026-03-01\n",
    "subscribers.csv": (
        "subscriber_id,renewal_code,email,first_name,last_name\n"
        "1,AAAAA,ada@example.org,Ada,Ames\n"
        "2,BBBBB,ben@example.org,Ben,Birch\n"
    ),
    "addresses.csv": "address_id,subscriber_id,city,zip_code\n1,1,Salem,97301\n2,2,Dover,19901\n",
    "subscriptions.csv": (
        "subscription_id,subscriber_id,publication_id,mailing_address_id,issues,copies,type\n"
        "1,1,1,1,4,1,Print\n"
        "2,2,1,2,-1,2,Both\n"
    ),
    "subscription_issues.csv": "subscription_id,issue_id,is_grace\n1,1,0\n",
    "custom_fields.csv": (
        "field_id,name,display_as,type,allow_other\n"
        "1,trade,Your trade,checkbox,1\n"
        "2,why,Why?,text,0\n"
    ),
    "custom_field_options.csv": (
        "option_id,field_id,value,display_as,active,order\n10,1,f,Farming,1,1\n11,1,m,Mining,1,2\n"
    ),
    "custom_field_answers.csv": (
        "subscriber_id,field_id,option_ids,text_value\n1,1,10|11,\n2,2,,So\n"
    ),
    "classes.csv": "class_id,name\n1,hotel\n",
    "bundles.csv": "bundle_id,name,price,tax\n7,Tide for a year,1000,50\n",
    "bundle_lines.csv": (
        "bundle_id,line_number,publication_id,issues,type,copies,price\n7,1,1,12,Print,1,1000\n"
    ),
    "products.csv": "product_id,name,price\n1,Mug,900\n",
    "cancellation_reasons.csv": "reason_id,name\n1,moved abroad\n",
    "renewal_efforts.csv": "publication_id,effort,issues_left\n1,1,3\n",
    "orders.csv": "order_id,subscriber_id,order_date,grand_total\n1,1,2026-03-01 10:00:00,10.5\n",
    "order_items.csv": "order_item_id,order_id,bundle_id,grand_total\n1,1,7,10.5\n",
    "purchases.csv": "purchase_id,subscriber_id,total\n1,1,10.50\n",
    "list_downloads.csv": "mailing_list_id,name,parent_mailing_list_id\n1,March,\n2,Gap,1\n",
    "mailing_list_entries.csv": "mailing_list_id,subscription_id,copies,type\n1,1,1,Print\n",
    "notes.csv": (
        "note_id,subscriber_id,noted_at,author,text\n1,1,2026-03-02 09:00:00,ben,Calls at noon\n"
    ),
    "complaints.csv": (
        "complaint_id,subscriber_id,subscription_id,issue_id,kind,answer,made_at,author,text\n"
        "1,1,1,1,lost,extended,2026-03-03 09:00:00,ben,Stolen\n"
    ),
    "page_settings.csv": "setting_id,name,value\n1,site,tide\n",
    "reader_bundles.csv": "bundle_id,renew,buy,gift\n7,1,1,0\n",
    "reader_changes.csv": (
        "reader_change_id,subscriber_id,subscription_id,kind,made_at,after\n"
        '1,1,1,pause,2026-03-04 09:00:00,"{""from"": ""2026-05-01""}"\n'
    ),
    "reader_consents.csv": (
        "reader_consent_id,subscriber_id,purpose,given_at\n1,1,news,2026-03-04 09:00:00\n"
    ),
    "reader_requests.csv": (
        "reader_request_id,subscriber_id,subscription_id,issue_id,kind,text,made_at\n"
        "1,1,1,1,missing_copy,Not here,2026-03-04 09:00:00\n"
    ),
}
"""Every table that files own, its references and both kinds of answer, in few rows."""

WITH_BOOKS: dict[str, str] = {
    **SMALL,
    "books.csv": "books_id,opened_on,opened_at\n1,2026-02-01,2026-02-01 08:00:00\n",
    "terms.csv": (
        "term_id,subscription_id,order_item_id,issues,issues_left,price,paid_on,kind\n"
        "1,1,1,12,4,1000,2026-02-01,paid\n"
    ),
    "revenue.csv": (
        "revenue_id,term_id,issue_id,kind,cents,booked_on\n1,1,,received,1000,2026-02-01\n"
    ),
    "suspensions.csv": "suspension_id,subscription_id,from_date,to_date\n1,1,2026-05-01,\n",
    "temporary_addresses.csv": (
        "temporary_address_id,subscription_id,address_id,from_date,to_date\n"
        "1,1,1,2026-05-01,2026-05-31\n"
    ),
    "replacements.csv": (
        "replacement_id,subscription_id,issue_id,copies,asked_on\n1,1,1,1,2026-04-01\n"
    ),
    "cancellations.csv": (
        "subscription_id,reason,made_on,at_end,campaign\n1,moved abroad,2026-04-02,1,1\n"
    ),
    "cancelled_terms.csv": "term_id,issues_left,refunded,tax\n1,4,333,20\n",
    "renewals_sent.csv": "term_id,effort,subscription_id,sent_on\n1,1,1,2026-04-01\n",
    "billing.csv": "billing_id,begun_on\n1,2026-02-02\n",
    "billing_settings.csv": "setting_id,name,value\n1,due_days,30\n",
    "tax_rates.csv": "rate_id,country,goods,percent,begins_on\n1,DE,print,700,2026-01-01\n",
    "shipping_prices.csv": "shipping_price_id,type,cents,begins_on\n1,Print,90,2026-01-01\n",
    "payer_details.csv": "subscriber_id,vat_id\n1,DE136695976\n",
    "invoices.csv": (
        "invoice_id,kind,series,number,number_text,subscriber_id,order_id,issued_on,net,tax,total,"
        "open_cents\n1,invoice,invoice 2026,1,2026-000001,1,1,2026-03-01,1000,50,1050,50\n"
    ),
    "invoice_lines.csv": (
        "invoice_id,line_number,order_item_id,goods,net,tax,percent,category\n"
        "1,1,1,print,1000,50,500,S\n"
    ),
    "payments.csv": (
        "payment_id,subscriber_id,kind,value_date,booked_on,cents,left_cents\n"
        "1,1,payment,2026-03-02,2026-03-02,1000,0\n"
    ),
    "allocations.csv": (
        "allocation_id,invoice_id,kind,payment_id,cents,booked_on\n1,1,payment,1,1000,2026-03-02\n"
    ),
    "journal_lines.csv": (
        "entry_id,line_number,booked_on,account,cents\n1,1,2026-03-02,bank,1000\n"
    ),
    "closed_months.csv": "month_id,closed_on\n202602,2026-03-05\n",
    "bank_files.csv": ("bank_file_id,name,digest,imported_at\n1,a.xml,00,2026-03-02 10:00:00\n"),
    "bank_entries.csv": (
        "bank_entry_id,bank_file_id,fingerprint,value_date,cents,status,subscriber_id,invoice_id,"
        "payment_id\n1,1,a,2026-03-02,1000,settled,1,1,1\n"
    ),
    "mandates.csv": (
        "mandate_id,subscriber_id,reference,scheme,signed_on,status,status_since\n"
        "1,1,M-1,core,2026-01-01,active,2026-01-01\n"
    ),
    "debit_runs.csv": (
        "debit_run_id,created_at,collected_on,message_id,version,claims,cents\n"
        "1,2026-03-02 10:00:00,2026-03-09,R-1,pain.008.001.08,1,50\n"
    ),
    "claims.csv": (
        "claim_id,debit_run_id,invoice_id,mandate_id,subscriber_id,cents,end_to_end_id,sequence,"
        "status,payment_id\n1,1,1,1,1,50,E-1,FRST,paid,1\n"
    ),
    "reminder_levels.csv": "level,days,then_do\n1,14,nothing\n",
    "reminders.csv": (
        "reminder_id,invoice_id,subscriber_id,level,reminded_on,fee_invoice_id\n"
        "1,1,1,1,2026-04-01,1\n"
    ),
    "renewal_consents.csv": (
        "consent_id,subscription_id,subscriber_id,bundle_id,given_on\n1,1,1,7,2026-01-01\n"
    ),
    "announced_renewals.csv": (
        "announcement_id,consent_id,subscription_id,term_id,bundle_id,price,tax,announced_on,"
        "renews_on,status,order_id\n1,1,1,1,7,1000,50,2026-03-01,2026-04-01,announced,1\n"
    ),
    "mails.csv": (
        "mail_id,subscriber_id,kind,invoice_id,reminder_id,subscription_id,status,queued_at,due_at"
        "\n1,1,reminder,1,1,1,queued,2026-04-01 10:00:00,2026-04-01 10:00:00\n"
    ),
    "held_addresses.csv": (
        "held_address_id,subscriber_id,address,held_on\n1,1,a@example.org,2026-04-02\n"
    ),
    "letters.csv": (
        "letter_id,kind,subscription_id,subscriber_id,written_on\n1,welcome,1,1,2026-02-02\n"
    ),
    "qualification_forms.csv": "publication_id,months\n2,36\n1,36\n",
    "qualification_questions.csv": "publication_id,field_id,position\n1,1,1\n",
    "audit_classes.csv": "audit_class_id,publication_id,position,code\n1,1,1,a\n",
    "audit_class_conditions.csv": "audit_class_id,field_id,option_ids\n1,1,10\n",
    "request_types.csv": "request_type_id,code,position\n1,web,1\n",
    "qualifications.csv": (
        "qualification_id,subscriber_id,publication_id,subscription_id,qualified_on,valid_until,"
        "request_type,audit_class_id,new_class_id,recorded_at\n"
        "1,1,1,1,2026-02-02,2029-02-01,web,1,1,2026-02-02 10:00:00\n"
    ),
    "qualified_subscriptions.csv": (
        "subscription_id,publication_id,qualification_id,audit_class_id,qualified_on,valid_until,"
        "lapsed_by\n1,1,1,1,2026-02-02,2029-02-01,1\n"
    ),
    "audit_figures.csv": (
        "issue_id,position,part,subscriptions,copies,printed,digital\n1,1,class,1,1,1,0\n"
    ),
    "requalification_efforts.csv": "publication_id,effort,days_before,way\n1,1,30,letter\n",
    "requalifications_sent.csv": "qualification_id,effort,sent_on\n1,1,2026-02-02\n",
}
"""The same in an account that keeps its books: an export, which only an empty account takes."""


def write_small(folder: Path) -> Path:
    """Write the files of the small publisher into a new folder, and return it."""
    folder.mkdir()
    for name, text in SMALL.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


class Publisher:
    """An account of a database, loaded and looked at without a process between."""

    _numbers = itertools.count()

    def __init__(
        self,
        url: str,
        folder: Path,
        account_id: int = 1,
        *,
        store: Store | None = None,
        is_there: bool = False,
    ) -> None:
        """Add the account to the database, which several accounts may have open as one store.

        It need not be added to the copy of a database that has it.
        """
        self.url = url
        self.folder = folder
        self.account_id = account_id
        self.store = store or open_store(url)
        if not is_there:
            accounts.add_account(self.store, {"account_id": account_id})

    def write(self, files: Mapping[str, str | bytes]) -> Path:
        """Write the files into a new folder, and return it."""
        folder = self.folder / f"files-{next(self._numbers)}"
        folder.mkdir(parents=True)
        for name, content in files.items():
            raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            (folder / name).write_bytes(raw)
        return folder

    def load(self, files: Mapping[str, str | bytes], *, reject: Path | None = None) -> Loaded:
        """Load the files."""
        return self.load_folder(self.write(files), reject=reject)

    def load_complete(
        self,
        files: Mapping[str, str | bytes],
        *,
        max_removed: str = "100%",
        reject: Path | None = None,
    ) -> Loaded:
        """Load files that have all rows of their tables."""
        return load(
            self.store,
            [self.write(files)],
            account_id=self.account_id,
            options=Options(reject, max_removed=Limit.parse(max_removed)),
        )

    def load_folder(self, folder: Path, *, reject: Path | None = None) -> Loaded:
        """Load a folder."""
        return load(self.store, [folder], account_id=self.account_id, options=Options(reject))

    def remove(self, name: str, *keys: tuple[int, ...]) -> None:
        """Remove records of a table."""
        removing.remove_records(self.store, self.account_id, TABLES_BY_NAME[name], keys)

    def problems(self, files: Mapping[str, str | bytes]) -> list[str]:
        """Load files that must be refused; return the lines of the refusal."""
        before = self.everything()
        with pytest.raises(BadInput) as refusal:
            self.load(files)
        assert self.everything() == before, "a refused load has changed something"
        return str(refusal.value).splitlines()

    def problem(self, files: Mapping[str, str | bytes]) -> str:
        """Load files that have one problem, and return its line."""
        found = [line for line in self.problems(files) if not line.startswith("nothing was")]
        assert len(found) == 1, found
        return found[0]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the stored records of a table."""
        with self._reader() as database:
            return self._records(database, name)

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """Return the stored records of all tables."""
        with self._reader() as database:
            return {name: self._records(database, name) for name in TABLES_BY_NAME}

    @contextmanager
    def _reader(self) -> Iterator[Connection]:
        with self.store.reader() as database:
            database.set_tenant(self.account_id)
            with database.snapshot():
                yield database

    def _records(self, database: Connection, name: str) -> list[dict[str, Any]]:
        table = TABLES_BY_NAME[name]
        names = [column.name for column in table.columns]
        return [
            dict(zip(names, row, strict=True))
            for batch in exporting.batches(database, self.account_id, table)
            for row in batch
        ]

    def commit_count(self) -> int:
        """Return how many commits the account has."""
        with self.store.writer() as database:
            ((count,),) = database.rows(
                "SELECT count(*) FROM commits WHERE account_id = :id", id=self.account_id
            )
            return int(count)

    def exported(self) -> dict[str, bytes]:
        """Export the account, and return the bytes of each file of data."""
        folder = self.folder / f"export-{next(self._numbers)}"
        export(self.store, folder, account_id=self.account_id)
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}
