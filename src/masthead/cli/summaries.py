"""What ``masthead --help`` says of each command: the first paragraph of its own help.

It is here once more, since the list would otherwise import each command, which takes a second.
"""

SUMMARIES = {
    "accounts": "The publishers whose data this database has, and their credentials.",
    "audit": "Print the audit log: who ran which command, the newest last, with times in UTC.",
    "backup": "Write a backup of the embedded database to FILE.",
    "billing": "Bill orders: invoices, tax rates, shipping prices.",
    "books": "Who owns an account's data: files that are loaded, or Masthead itself.",
    "catalogue": "What can be ordered: publications and their issues, bundles, products.",
    "check": "Compare a service with the interface; this only reads.",
    "complaint": "Complaints about issues: answer one, count all of them.",
    "console": "Serve the console, for the publisher's own people, until SIGTERM.",
    "database": "The database: its tables, and the machines that hold it.",
    "debit": "Direct debits: hand in invoices, and book what was collected and what came back.",
    "demo": "Make a demo publisher of 2,000 subscribers, and serve it on this machine only.",
    "documents": (
        "Templates of invoices, receipts and credit notes: copy them, change them, check them."
    ),
    "emulator": "Serve a temporary publisher for tests, which can be changed while it runs.",
    "entitlements": "What readers may read, for sites with a paywall: the keys that sign it.",
    "erase": "Blank all personal data of a subscriber, permanently.",
    "export": "Write an account's data to DIR, as the files that `masthead import` reads.",
    "feed": "The change feed.",
    "generate": "Write the import files of a made-up publisher to DIR.",
    "import": "Import files, or folders of them, into an account: all rows or none.",
    "invoice": "Invoices, receipts and credit notes of an account that bills its orders.",
    "issue": "The issues of publications: their lists, and the mail file.",
    "journal": "The journal: double entries of every movement of money, for the accountant.",
    "letter": "Letters when a subscription begins, and when it is cancelled.",
    "loads": "Print the last loads of all accounts, or of one, the newest last, with times in UTC.",
    "mail": "Mails with documents, for payers who want them by email.",
    "mandate": "Mandates: the permissions of payers to collect their invoices from their accounts.",
    "manual": "Write the user documentation to DIR, as a site that needs no server.",
    "mirror": "Keep a local copy of a service's data, by its change feed.",
    "note": "Notes about readers; the reader's page in the console shows them.",
    "openapi": "Print the OpenAPI 3.1 description of the interface.",
    "operators": "The publisher's people who sign in to the console.",
    "readers": "Serve the readers' pages until SIGTERM: what readers do without calling.",
    "order": "Orders: take one by hand, load a web shop's, book payments and refunds.",
    "partners": "Partners with credentials of their own: who may ask for what, and who failed.",
    "payer": "Who pays: the subscribers whose orders are invoiced.",
    "payment": "Payments of an account that bills: money that came, came back, or was paid back.",
    "qualification": "Qualification: titles that are free to those who qualify.",
    "reminders": (
        "Reminders of invoices that are overdue: their levels, whom to remind, and the letters."
    ),
    "remove": "Remove single records of TABLE, such as orders: all that are named, or none.",
    "renewals": "Renewal letters, and automatic renewal: what is due, and for whom.",
    "replacement": "Copies that are sent again: add, list and remove them, and write their file.",
    "report": "Reports of the books: copies, readers and money.",
    "restore": "Replace the embedded database with the backup FILE, and begin a new epoch.",
    "serve": "Serve the ten operations over HTTP until SIGTERM.",
    "subscriber": "Readers: find one, show one, merge two that are the same person.",
    "subscriber-data": "Print all data of a subscriber as a JSON object.",
    "subscription": "One subscription: show, change, suspend, extend or end it.",
}
