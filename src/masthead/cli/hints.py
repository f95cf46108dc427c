"""What the command line adds to an error: the command or the option that helps.

The packages below report what is wrong, and know no commands; a front end adds its hint by the
error's code.
"""

from masthead.errors import MastheadError
from masthead.extras import install

HINTS = {
    "accounts_all_or_nothing": "leave out --reject",
    "accounts_not_dry": "leave out --dry-run",
    "accounts_remove_none": "leave out --complete; `masthead accounts remove` removes an account",
    "bad_rows": "--reject DIR does so",
    "billing_not_begun": "`masthead billing begin --account {account}` begins it",
    "booked_issue": "`masthead catalogue issue set {issue} --date` gives it another date",
    "billing_settings_missing": "`masthead billing settings` with NAME=VALUE sets it",
    "books_elsewhere": "`masthead books open --account {account}` opens the books",
    "cancelled": "`masthead order add` takes an order",
    "cancelled_meanwhile": "`masthead subscription uncancel {subscription}` undoes it",
    "claims_not_handed_in": "--leave-unknown leaves it out, and takes back the others",
    "copies_of_term": "--free adds free copies, --convert converts what is left",
    "cut_off": "--allow-truncated loads it",
    "database_exists": "--replace replaces it",
    "datev_numbers": "`masthead billing settings` with NAME=VALUE sets it",
    "grace_without_date": "--grace-from gives it",
    "has_subscribers": "`masthead books open --account {account}` opens the books",
    "has_temporary_address": "`masthead subscription address {subscription} --back` ends it",
    "lines_without_prices": "--line gives a line with its price",
    "mail_settings_missing": "`masthead billing settings` with NAME=VALUE sets it",
    "merged": "`masthead subscription show {into}` shows that one",
    "names_no_invoice": "--invoice names the invoice, and --payer the payer",
    "needs_amount": "--amount gives back that much",
    "needs_billing_packages": f"with the file of the release, {install('billing')} brings it",
    "needs_mapping": "--map names the mapping, and --guess writes a first one",
    "needs_new_subscription": "--new begins one; in a file of orders, true in the column new",
    "no_copy": "`masthead mirror` with the same --to makes one",
    "no_reminder_levels": "`masthead reminders levels set` with `--days` does so",
    "no_mailing_list": "`masthead issue close {issue}` makes the list; with --preview, it says "
    "what it would be",
    "not_a_reason": "`masthead catalogue reason add` adds one",
    "not_an_export": "`masthead export` writes one",
    "not_in_catalogue": "`masthead catalogue {thing} list` lists them",
    "not_on_hold": "`masthead mail held` lists those on hold",
    "not_settled": "--refund gives it back, --earn keeps it",
    "nothing_left": "`masthead order add` takes one",
    "no_qualification_form": "`masthead qualification form {publication}` with --field makes one",
    "nothing_sought": "the options are --email, --code, --order, --street, --zip and --city",
    "nothing_to_end": "`masthead subscription show {subscription}` lists what there is",
    "opening_refused": "--issues-from-dates, --paid, --cancelled, --copies and --type say it",
    "other_load": "--wait waits for the other one",
    "other_migration": "`masthead accounts export` and `masthead export` write the files",
    "outdated_schema": "run `masthead database migrate`",
    "port_in_use": "--{option} sets it",
    "postgresql_backup": "`masthead feed new-epoch` begins one",
    "renews_already": "`masthead subscription consent stop {subscription}` does so",
    "retired": "`masthead catalogue {thing} list` lists those for sale, and `masthead catalogue "
    "{thing} set {key} --active` sells this one again",
    "several_items": "--item chooses one of {items}",
    "several_readers": "`masthead subscriber find --email` finds them, and an id names one",
    "suspended": "`masthead subscription resume {subscription}` ends it",
    "too_many_rejected": "--max-rejected sets the limit",
    "too_many_removed": "--max-removed {share} allows it",
    "traces_left": "`masthead erase` does so",
    "unknown_account": "`masthead accounts list` lists all",
    "unknown_address": "`masthead subscriber show {subscriber}` lists them",
    "unknown_bank_entry": "`masthead payment proposals` lists those that wait",
    "unknown_class": "`masthead catalogue class add` adds one of your own",
    "unknown_debit_run": "`masthead debit list` lists all",
    "unknown_effort": "`masthead {kind} efforts list` lists all",
    "unknown_invoice": "`masthead invoice list` lists all",
    "unknown_issue": "`masthead issue list` lists all",
    "unknown_item": "`masthead order show {order}` lists them",
    "unknown_mail": "`masthead mail list` lists them",
    "unknown_mandate": "`masthead mandate list` lists all",
    "unknown_payment": "`masthead payment list` with the subscriber's id lists a payer's",
    "unknown_operator": "`masthead operators list` lists all",
    "unknown_order": "`masthead subscriber find --order` finds one by its reference",
    "unknown_partner": "`masthead partners list` lists all",
    "unknown_reason": "`masthead catalogue reason list` lists all",
    "unknown_subscriber": "`masthead subscriber find` finds one by name or email",
    "unknown_subscription": "`masthead subscriber find` finds a reader, and `masthead subscriber "
    "show` lists the reader's subscriptions",
    "unreadable_erasures": "--erasures ACCOUNT FILE gives a list, --even-if-unreadable does "
    "without",
    "unreadable_key": "leave out --complete",
    "unsuitable_marker": "--when-complete names the marker",
    "whose_data": "--account names it",
}
"""The hint for each error code, with the error's values as ``{name}``."""


def with_hint(error: Exception) -> str:
    """Return an error's message, followed by the hint for its code, if there is one."""
    if not isinstance(error, MastheadError) or error.code not in HINTS:
        return str(error)
    return f"{error}; {HINTS[error.code].format(**error.values)}"
