"""What the user documentation contains: its groups, one for each kind of reader, and their pages.

Each page is a file of the project's ``docs``, by its name without ``.md``.
"""

from typing import NamedTuple


class Group(NamedTuple):
    """The pages for one kind of reader; each value is a page's title, and after ": " its topic."""

    title: str
    about: str
    pages: dict[str, str]


GROUPS = (
    Group(
        "Start here",
        "For everybody: from a spreadsheet to a running service, and the words that all pages use.",
        {
            "loading": "Load a spreadsheet in an afternoon: from the file to readers who log in",
            "glossary": "Glossary: what the words mean",
        },
    ),
    Group(
        "Operator",
        "You install Masthead, load data every night, give credentials, and watch that it runs.",
        {
            "operator": "For the operator: install, give credentials, watch, back up",
            "nightly": "Load files every night: what they contain, what is checked and removed",
            "mapping": "Mapping files: load the files of another system",
            "exports": "Exports of other systems: mappings that come with Masthead",
            "upgrading": "Upgrading: to another version, and back",
            "postgresql": "PostgreSQL: roles, poolers, replicas, several machines",
            "patroni": "Failover with Patroni",
            "security": "Security: what is protected from whom, and how",
            "sizing": "Sizing: which machine, how much disk, how many workers",
            "performance": "Performance: what has been measured",
        },
    ),
    Group(
        "Circulation and finance",
        "You take orders, close issues, send renewals, bill, collect, and close the month.",
        {
            "circulation": "For the circulation manager: orders, issues and renewals, day by day",
            "circulation-rules": "The rules of circulation: terms, issues, money, reports",
            "circulation-example": "A worked example of circulation: every figure by hand",
            "console": "The console: the publisher's people work in a browser",
            "console-pages": "The pages of the console, in pictures",
            "qualification": "Qualification: titles that are free to those who qualify",
            "qualification-example": "A worked example of qualification: a free title, its audit",
            "finance": "For finance: bills, tax, payments and the journal, from the first day",
            "billing-example": "A worked example of billing: every figure by hand",
            "documents": "Documents: templates of invoices, receipts and credit notes",
            "mail": "Mail: invoices and other documents by email, sent once, and bounces",
            "bank-files": "Bank files: from the download of the bank to booked payments",
            "direct-debit": "Direct debit: mandates, files for the bank, and what comes back",
            "automatic-renewal": "Automatic renewal: consents, announcements and orders",
        },
    ),
    Group(
        "Readers' pages",
        "You give readers pages on which they look after their subscriptions without calling.",
        {
            "readers-pages": "The readers' pages: what readers do themselves, and what you set",
            "readers-pictures": "The readers' pages, in pictures",
            "embedding": "Embed the readers' pages: links, a proxy, and readers who are signed in",
        },
    ),
    Group(
        "Integrator",
        "You build a web site, a paywall or another program that asks Masthead about readers.",
        {
            "integrator": "For the integrator: look up readers and check logins, in any language",
            "paywall": "A site with a paywall: ask once a day what a reader may read",
            "testing": "For testers: a service to test against, with faults and a clock that moves",
            "checking": "Check a service: compare any service with the interface",
        },
    ),
    Group(
        "Data engineer",
        "You keep a copy of all data up to date, and prove that it is complete.",
        {
            "data-engineer": "For the data engineer: keep a copy of all data, prove it complete",
            "analysis": "Analysis: queries of a copy that answer ten questions of a publisher",
            "pipelines": "Pipelines: load all data into a warehouse, with dlt or Singer",
        },
    ),
    Group(
        "Reference",
        "Every operation, field, file, setting, command and rule, and how Masthead is built.",
        {
            "reference": "Reference: operations, fields, files, settings, commands",
            "rules": "Rules: how this service answers where the interface leaves a question open",
            "decisions": "Decisions: what could have been decided otherwise, and why it was not",
            "architecture": "Architecture: for developers",
            "design-system": "The design system of the console: for developers",
        },
    ),
)
"""The groups in the order of the sidebar."""

PAGES = {name: title for group in GROUPS for name, title in group.pages.items()}
"""All pages."""

GROUP_OF = {name: group for group in GROUPS for name in group.pages}
"""The group of each page."""
