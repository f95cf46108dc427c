"""The tables of an account's data, which are also the files of import and export.

Each record lists the columns of a table, the key first. A table whose rows equal a wire shape uses
that shape. Tables refer only to earlier tables, or to themselves. For what the books add, see
circulation, "What is stored in addition". ``cents`` and prices are whole cents.
"""

# Long because it is one list of tables.

from typing import NamedTuple

from masthead.contract import shapes
from masthead.contract.account_records import AccountRecord, ErasureRecord
from masthead.contract.billing import (
    Allocation,
    BankEntry,
    BankFile,
    Billing,
    BillingSetting,
    ClosedMonth,
    Invoice,
    InvoiceLine,
    JournalLine,
    PayerDetails,
    Payment,
    ShippingPrice,
    TaxRate,
)
from masthead.contract.books import (
    Books,
    Bundle,
    BundleLine,
    Cancellation,
    CancellationReason,
    CancelledTerm,
    Complaint,
    CopyClass,
    Note,
    Product,
    RenewalEffort,
    RenewalSent,
    Replacement,
    Revenue,
    Suspension,
    TemporaryAddress,
    Term,
)
from masthead.contract.collecting import (
    AnnouncedRenewal,
    Claim,
    DebitRun,
    HeldAddress,
    Letter,
    Mail,
    Mandate,
    Reminder,
    ReminderLevel,
    RenewalConsent,
)
from masthead.contract.custom_fields import (
    CustomField,
    CustomFieldAnswerRecord,
    CustomFieldOptionRecord,
)
from masthead.contract.pages import (
    PageSetting,
    ReaderBundle,
    ReaderChange,
    ReaderConsent,
    ReaderRequest,
)
from masthead.contract.qualification import (
    AuditClass,
    AuditClassCondition,
    AuditFigure,
    Qualification,
    QualificationForm,
    QualificationQuestion,
    QualifiedSubscription,
    RequalificationEffort,
    RequalificationSent,
    RequestType,
)
from masthead.contract.shapes import Field, fields_of
from masthead.contract.shown_records import (
    AddressRecord,
    Issue,
    MailingListEntryRecord,
    OrderItemRecord,
    OrderRecord,
    Publication,
    SubscriberRecord,
    SubscriptionIssue,
    SubscriptionRecord,
)


class Table(NamedTuple):
    """A table; its files have the same ``name``.

    ``references`` maps a column to the table whose key it refers to, a key of one column. The
    values of ``unique`` columns are unique, ignoring ASCII letter case; no two rows have the same
    values in all columns ``together``, unless one is missing. The columns ``personal`` are blanked
    when a subscriber is erased; tables with such columns have a ``subscriber_id``.
    """

    name: str
    columns: tuple[Field, ...]
    key: tuple[str, ...]
    references: dict[str, str]
    unique: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Field, ...]:
        """The columns that are not part of the key."""
        return tuple(column for column in self.columns if column.name not in self.key)


def _table(
    name: str,
    record: type,
    *,
    key: int = 1,
    unique: tuple[str, ...] = (),
    personal: tuple[str, ...] = (),
    together: tuple[str, ...] = (),
    **references: str,
) -> Table:
    columns = fields_of(record)
    names = tuple(column.name for column in columns[:key])
    return Table(name, columns, names, references, unique, personal, together)


TABLES = (
    _table("books", Books),
    _table("publications", Publication),
    _table("list_downloads", shapes.ListDownload, parent_mailing_list_id="list_downloads"),
    _table("issues", Issue, publication_id="publications", mailing_list_id="list_downloads"),
    _table(
        "subscribers",
        SubscriberRecord,
        unique=("renewal_code",),
        personal=(
            "renewal_code",
            "email",
            "password_md5",
            "password_hash",
            "first_name",
            "last_name",
            "source",
        ),
        merged_into="subscribers",
    ),
    _table(
        "addresses",
        AddressRecord,
        personal=tuple(
            field.name
            for field in fields_of(shapes.Address)
            if field.name not in {"address_id", "subscriber_id"}
        ),
        subscriber_id="subscribers",
    ),
    _table(
        "subscriptions",
        SubscriptionRecord,
        subscriber_id="subscribers",
        publication_id="publications",
        mailing_address_id="addresses",
        billing_address_id="addresses",
        merged_into="subscriptions",
    ),
    _table("custom_fields", CustomField),
    _table("custom_field_options", CustomFieldOptionRecord, field_id="custom_fields"),
    _table(
        "custom_field_answers",
        CustomFieldAnswerRecord,
        key=2,
        personal=("option_ids", "text_value", "answered_on"),
        subscriber_id="subscribers",
        field_id="custom_fields",
    ),
    _table("classes", CopyClass),
    _table("bundles", Bundle),
    _table(
        "bundle_lines",
        BundleLine,
        key=2,
        bundle_id="bundles",
        publication_id="publications",
    ),
    _table("products", Product),
    _table(
        "orders",
        OrderRecord,
        unique=("external_reference",),
        personal=("import_name", "content_digest", "dispute"),
        subscriber_id="subscribers",
        mailing_address_id="addresses",
        billing_address_id="addresses",
    ),
    _table(
        "purchases",
        shapes.Purchase,
        personal=("notes", "name"),
        subscriber_id="subscribers",
        shipping_address_id="addresses",
        billing_address_id="addresses",
    ),
    _table("order_items", OrderItemRecord, order_id="orders", purchase_id="purchases"),
    _table("terms", Term, subscription_id="subscriptions", order_item_id="order_items"),
    _table("revenue", Revenue, term_id="terms", issue_id="issues"),
    _table(
        "subscription_issues",
        SubscriptionIssue,
        key=2,
        subscription_id="subscriptions",
        issue_id="issues",
        mailing_list_id="list_downloads",
        term_id="terms",
    ),
    _table("suspensions", Suspension, subscription_id="subscriptions"),
    _table(
        "temporary_addresses",
        TemporaryAddress,
        subscription_id="subscriptions",
        address_id="addresses",
    ),
    _table(
        "replacements",
        Replacement,
        subscription_id="subscriptions",
        issue_id="issues",
    ),
    _table("cancellation_reasons", CancellationReason),
    _table(
        "cancellations",
        Cancellation,
        subscription_id="subscriptions",
        after_issue_id="issues",
        ended_issue_id="issues",
        final_issue_id="issues",
    ),
    _table("cancelled_terms", CancelledTerm, term_id="terms"),
    _table(
        "renewal_efforts",
        RenewalEffort,
        key=2,
        publication_id="publications",
        bundle_id="bundles",
    ),
    _table(
        "renewals_sent",
        RenewalSent,
        key=2,
        term_id="terms",
        subscription_id="subscriptions",
    ),
    _table(
        "mailing_list_entries",
        MailingListEntryRecord,
        key=2,
        mailing_list_id="list_downloads",
        subscription_id="subscriptions",
    ),
    _table("notes", Note, personal=("text",), subscriber_id="subscribers"),
    _table(
        "complaints",
        Complaint,
        personal=("text",),
        subscriber_id="subscribers",
        subscription_id="subscriptions",
        issue_id="issues",
    ),
    _table("billing", Billing),
    _table("billing_settings", BillingSetting, together=("name",)),
    _table("tax_rates", TaxRate),
    _table("shipping_prices", ShippingPrice),
    _table("payer_details", PayerDetails, personal=("vat_id",), subscriber_id="subscribers"),
    _table(
        "invoices",
        Invoice,
        personal=("reason", "printed"),
        together=("series", "number"),
        subscriber_id="subscribers",
        order_id="orders",
        of_invoice_id="invoices",
    ),
    _table("invoice_lines", InvoiceLine, key=2, invoice_id="invoices", order_item_id="order_items"),
    _table(
        "payments",
        Payment,
        personal=("reference", "reason"),
        together=("source",),
        subscriber_id="subscribers",
        reverses_id="payments",
    ),
    _table(
        "allocations",
        Allocation,
        invoice_id="invoices",
        payment_id="payments",
        credit_note_id="invoices",
    ),
    _table("journal_lines", JournalLine, key=2, invoice_id="invoices", payment_id="payments"),
    _table("closed_months", ClosedMonth),
    _table("bank_files", BankFile),
    _table(
        "bank_entries",
        BankEntry,
        personal=("name", "iban", "reference", "end_to_end_id", "return_reason", "reason"),
        together=("fingerprint",),
        bank_file_id="bank_files",
        subscriber_id="subscribers",
        invoice_id="invoices",
        payment_id="payments",
    ),
    _table(
        "mandates",
        Mandate,
        personal=("account_holder", "iban", "iban_end", "bic", "reason"),
        together=("reference",),
        subscriber_id="subscribers",
    ),
    _table("debit_runs", DebitRun, together=("message_id",)),
    _table(
        "claims",
        Claim,
        personal=("return_reason",),
        together=("end_to_end_id",),
        debit_run_id="debit_runs",
        invoice_id="invoices",
        mandate_id="mandates",
        subscriber_id="subscribers",
        payment_id="payments",
    ),
    _table("reminder_levels", ReminderLevel),
    _table(
        "reminders",
        Reminder,
        personal=("printed",),
        invoice_id="invoices",
        subscriber_id="subscribers",
        fee_invoice_id="invoices",
    ),
    _table(
        "renewal_consents",
        RenewalConsent,
        personal=("words", "source", "stop_reason"),
        subscription_id="subscriptions",
        subscriber_id="subscribers",
        bundle_id="bundles",
    ),
    _table(
        "announced_renewals",
        AnnouncedRenewal,
        together=("subscription_id", "term_id"),
        consent_id="renewal_consents",
        subscription_id="subscriptions",
        term_id="terms",
        bundle_id="bundles",
        order_id="orders",
    ),
    _table(
        "mails",
        Mail,
        personal=("address", "subject", "text", "error"),
        subscriber_id="subscribers",
        invoice_id="invoices",
        reminder_id="reminders",
        subscription_id="subscriptions",
    ),
    _table(
        "held_addresses",
        HeldAddress,
        personal=("address", "reason"),
        together=("address",),
        subscriber_id="subscribers",
    ),
    _table("letters", Letter, subscription_id="subscriptions", subscriber_id="subscribers"),
    _table("page_settings", PageSetting, together=("name",)),
    _table("reader_bundles", ReaderBundle, bundle_id="bundles"),
    _table(
        "reader_changes",
        ReaderChange,
        personal=("before", "after"),
        subscriber_id="subscribers",
        subscription_id="subscriptions",
    ),
    _table("reader_consents", ReaderConsent, subscriber_id="subscribers"),
    _table(
        "reader_requests",
        ReaderRequest,
        personal=("text",),
        subscriber_id="subscribers",
        subscription_id="subscriptions",
        issue_id="issues",
    ),
    _table("qualification_forms", QualificationForm, publication_id="publications"),
    _table(
        "qualification_questions",
        QualificationQuestion,
        key=2,
        publication_id="qualification_forms",
        field_id="custom_fields",
    ),
    _table(
        "audit_classes",
        AuditClass,
        together=("publication_id", "code"),
        publication_id="qualification_forms",
    ),
    _table(
        "audit_class_conditions",
        AuditClassCondition,
        key=2,
        audit_class_id="audit_classes",
        field_id="custom_fields",
    ),
    _table("request_types", RequestType, together=("code",)),
    _table(
        "qualifications",
        Qualification,
        personal=("answers", "evidence"),
        subscriber_id="subscribers",
        publication_id="qualification_forms",
        subscription_id="subscriptions",
        audit_class_id="audit_classes",
        new_class_id="audit_classes",
    ),
    _table(
        "qualified_subscriptions",
        QualifiedSubscription,
        subscription_id="subscriptions",
        publication_id="qualification_forms",
        qualification_id="qualifications",
        audit_class_id="audit_classes",
        lapsed_by="list_downloads",
    ),
    _table("audit_figures", AuditFigure, key=2, issue_id="issues"),
    _table(
        "requalification_efforts",
        RequalificationEffort,
        key=2,
        publication_id="qualification_forms",
    ),
    _table("requalifications_sent", RequalificationSent, key=2, qualification_id="qualifications"),
)

ERASURES = _table("erasures", ErasureRecord)
"""The erased subscribers, exported and imported so that they stay erased in another database. A row
may name a subscriber who does not exist yet: a later import keeps the data blank."""

TABLES_BY_NAME = {table.name: table for table in (*TABLES, ERASURES)}

ACCOUNTS = _table("accounts", AccountRecord)
