-- The schema of version 0.1: accounts, the tables of an account's data, and the staging tables.
--
-- Every key begins with account_id, so that the tables can be distributed by it. Text is ordered by
-- code points, and only ASCII letters are lowered. A row of the change feed's entities has the
-- commit that last changed it (commit_id; custom_fields_commit_id for a subscriber's record of
-- custom fields). A missing value is NULL, never ''. Exact numbers and decimals are text, as they
-- were loaded: SQLite has no decimals. Times are microseconds since 1970 in UTC, unless the
-- contract has them as text.

-- api_key and api_login are sealed with the secret key, which is not in the database.
-- renewal_code_login: whether a renewal code with a postal code is a login. time_zone: by its name
-- (IANA); what "today" is. currency: of all amounts, its code of ISO 4217. keep_password_md5:
-- whether a password that a reader sets fills password_md5 too.
CREATE TABLE accounts (
    account_id INTEGER NOT NULL PRIMARY KEY,
    company_name TEXT,
    email TEXT,
    website TEXT,
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    api_active INTEGER NOT NULL DEFAULT 1 CHECK (api_active IN (0, 1)),
    api_key TEXT,
    api_login TEXT,
    plan TEXT,
    audit_type TEXT,
    created TEXT,
    master_checkout TEXT,
    is_master INTEGER NOT NULL DEFAULT 0 CHECK (is_master IN (0, 1)),
    hide_password_md5 INTEGER NOT NULL DEFAULT 0 CHECK (hide_password_md5 IN (0, 1)),
    renewal_code_login INTEGER NOT NULL DEFAULT 1 CHECK (renewal_code_login IN (0, 1)),
    time_zone TEXT NOT NULL DEFAULT 'UTC',
    currency TEXT NOT NULL DEFAULT 'USD',
    keep_password_md5 INTEGER NOT NULL DEFAULT 0 CHECK (keep_password_md5 IN (0, 1))
) STRICT;

-- Partners that have pairs of credentials of their own. operations: the names of those that the
-- partner may ask for, with spaces between them; NULL for all. rate: requests a second; NULL if
-- only the limit of the server counts.
CREATE TABLE partners (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    partner_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_lower TEXT NOT NULL,
    operations TEXT,
    rate INTEGER CHECK (rate > 0),
    added_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, partner_id),
    UNIQUE (account_id, name_lower)
) STRICT;

-- All pairs that open an account, as keyed hashes. ends_at: of a pair that was replaced. login_hash
-- is NULL if an account has no api_login: that opens nothing. partner_id: NULL for pairs of the
-- account itself.
CREATE TABLE credentials (
    key_hash TEXT NOT NULL PRIMARY KEY,
    login_hash TEXT,
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    ends_at INTEGER,
    partner_id INTEGER,
    FOREIGN KEY (account_id, partner_id) REFERENCES partners (account_id, partner_id)
) STRICT;
CREATE INDEX credentials_by_account ON credentials (account_id);

-- The keys that sign entitlements. public_key: a JWK. private_key, subject_key: sealed with the
-- secret key; subject_key makes the ids of readers in tokens. ends_at: when a replaced key will not
-- be published any more.
CREATE TABLE entitlement_keys (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    key_id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    public_key TEXT NOT NULL,
    private_key TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    ends_at INTEGER,
    PRIMARY KEY (account_id, key_id)
) STRICT;

-- The publisher's people who sign in to the console. password_hash is Argon2's. Sessions with
-- another sessions_from have ended.
CREATE TABLE operators (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    operator_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_lower TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('clerk', 'manager', 'finance', 'viewer')),
    password_hash TEXT NOT NULL,
    sessions_from INTEGER NOT NULL,
    PRIMARY KEY (account_id, operator_id)
) STRICT;
CREATE UNIQUE INDEX operators_by_name ON operators (account_id, name_lower);

-- The forms of the console that were saved on the last day. form: a digest of the form with its
-- one-time value. path: the page to which saving led.
CREATE TABLE saved_forms (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    form TEXT NOT NULL,
    path TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, form)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_forms_by_time ON saved_forms (account_id, saved_at);

-- The fingerprint of the right secret key. On PostgreSQL its row is the lock of accounts and
-- credentials.
CREATE TABLE secret_key (fingerprint TEXT NOT NULL PRIMARY KEY) STRICT;

-- [postgresql]
-- When a server last wrote to this database: by it a reader of a replica knows how far the replica
-- is behind.
CREATE TABLE heartbeat (
    is_only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (is_only_row),
    beat_at INTEGER NOT NULL
);
INSERT INTO heartbeat (beat_at) VALUES (0);

-- [both]
-- Who did what with the commands. account_id: 0 if it was no single account. It names accounts
-- without referring to them: an entry outlives its account.
CREATE TABLE audit (
    account_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL PRIMARY KEY, -- [sqlite]
    entry_id INTEGER GENERATED BY DEFAULT AS IDENTITY, -- [postgresql]
    at INTEGER NOT NULL,
    user_name TEXT NOT NULL,
    command TEXT NOT NULL,
    summary TEXT NOT NULL -- [sqlite]
    summary TEXT NOT NULL, -- [postgresql]
    PRIMARY KEY (account_id, entry_id) -- [postgresql]
) STRICT;

-- The last loads of each account. files, counts: JSON. outcome: 'good' or 'refused'; NULL while it
-- runs, and of one that was killed. marker_at: the time of the marker file that it waited for.
CREATE TABLE loads (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    load_id INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    user_name TEXT NOT NULL,
    command TEXT NOT NULL,
    files TEXT NOT NULL,
    marker_at INTEGER,
    outcome TEXT,
    counts TEXT,
    rejected INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, load_id)
) STRICT, WITHOUT ROWID;

-- [postgresql]
-- The rows that writers lock. kind: 'data', 'stamps' for those who stamp commits, or 'load' for a
-- load from its first file on, so that a second one can say so.
CREATE TABLE account_locks (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    kind TEXT NOT NULL,
    PRIMARY KEY (account_id, kind)
);

-- [both]
-- The numbers of accounts that were removed, each with its newest stamp: an account that gets the
-- number again begins an epoch after it, whatever clients know of the former one.
CREATE TABLE removed_accounts (
    account_id INTEGER NOT NULL PRIMARY KEY,
    newest_stamp INTEGER NOT NULL
) STRICT;

-- What a client of the change feed learned before epoch_at may be of a history that the database no
-- longer has: the client must start again. history, on PostgreSQL: that of the server with the
-- account's data when it was last looked at; another one means that a backup was restored or a
-- replica promoted.
CREATE TABLE epochs (
    account_id INTEGER NOT NULL PRIMARY KEY REFERENCES accounts (account_id),
    epoch_at INTEGER,
    history TEXT
) STRICT;

-- [postgresql]
-- The servers of a distributed database, each as "system identifier/database oid": an account that
-- is moved from one to another has lost nothing.
CREATE TABLE nodes (node TEXT NOT NULL PRIMARY KEY);

-- Failed logins. login, guess: keyed hashes. kind: what of an account is counted together.
CREATE TABLE login_failures (
    account_id INTEGER NOT NULL,
    login TEXT NOT NULL,
    guess TEXT NOT NULL,
    failed_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (account_id, guess)
);
CREATE INDEX login_failures_by_login ON login_failures (account_id, login, failed_at);
CREATE INDEX login_failures_by_time ON login_failures (account_id, failed_at, kind);

-- Emails with which readers have logged in, by keyed hash, and when last.
CREATE TABLE login_successes (
    account_id INTEGER NOT NULL,
    login TEXT NOT NULL,
    succeeded_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, login)
);
CREATE INDEX login_successes_by_time ON login_successes (account_id, succeeded_at);

-- When each pair was last used.
CREATE TABLE credential_uses (
    account_id INTEGER NOT NULL,
    key_hash TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key_hash)
);

-- What partners asked, by day (in UTC), partner and operation. partner: the name, '' for the
-- account's own credentials. server_errors: those of the errors whose status is 500 or more.
CREATE TABLE request_counts (
    account_id INTEGER NOT NULL,
    day TEXT NOT NULL,
    partner TEXT NOT NULL,
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    server_errors INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, partner, operation)
);

-- Who is signed in to the console. token_hash: SHA-256 of the token that the browser has.
CREATE TABLE operator_sessions (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    operator_id INTEGER NOT NULL,
    sessions_from INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);

-- Who is signed in to the readers' pages. token_hash: SHA-256 of the token that the browser has.
-- login_mark: a keyed hash of what the reader signs in with; another one ends the session.
CREATE TABLE reader_sessions (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    login_mark TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX reader_sessions_by_subscriber ON reader_sessions (account_id, subscriber_id);
CREATE INDEX reader_sessions_by_time ON reader_sessions (account_id, used_at);

-- The links that were sent to readers. browser_hash: SHA-256 of the token of the asking browser.
CREATE TABLE sign_in_links (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'password')),
    made_at INTEGER NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX sign_in_links_by_subscriber ON sign_in_links (account_id, subscriber_id);
CREATE INDEX sign_in_links_by_time ON sign_in_links (account_id, made_at);

-- One-time codes of readers for the sites of partners. code_hash: a keyed hash.
CREATE TABLE entitlement_codes (
    account_id INTEGER NOT NULL,
    code_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, code_hash)
);
CREATE INDEX entitlement_codes_by_subscriber
    ON entitlement_codes (account_id, subscriber_id, made_at);
CREATE INDEX entitlement_codes_by_time ON entitlement_codes (account_id, made_at);

-- [both]
-- visible_at: NULL until the commit is stamped.
CREATE TABLE commits (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    commit_id INTEGER NOT NULL,
    visible_at INTEGER,
    PRIMARY KEY (account_id, commit_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX commits_by_visible_at ON commits (account_id, visible_at);
CREATE INDEX commits_without_stamp ON commits (account_id) WHERE visible_at IS NULL; -- [postgresql]

-- An account that has the row keeps its books here (mode `here`): operations change its data, and
-- files no longer do. opened_at, like all times of the books: YYYY-MM-DD hh:mm:ss in the
-- time zone of the account.
-- last_order_before: the newest order of before the opening; this and older ones are history.
CREATE TABLE books (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    books_id INTEGER NOT NULL CHECK (books_id = 1),
    opened_on TEXT NOT NULL,
    opened_at TEXT,
    last_order_before INTEGER,
    PRIMARY KEY (account_id, books_id)
) STRICT, WITHOUT ROWID;

-- given_here: 1 if an operation of the books gave the id, 0 if a file brought it.
CREATE TABLE publications (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    publication_id INTEGER NOT NULL,
    name TEXT,
    issues_per_year INTEGER NOT NULL DEFAULT 12,
    late_start TEXT NOT NULL DEFAULT 'next' CHECK (late_start IN ('next', 'current')),
    grace_counts INTEGER NOT NULL DEFAULT 0,
    credit_issues INTEGER NOT NULL DEFAULT 1,
    unlimited_term_months INTEGER NOT NULL DEFAULT 12,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, publication_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE list_downloads (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    mailing_list_id INTEGER NOT NULL,
    name TEXT,
    status TEXT,
    count INTEGER,
    is_gap INTEGER NOT NULL DEFAULT 0,
    grace_from_date TEXT,
    grace_issues INTEGER,
    parent_mailing_list_id INTEGER,
    date_created TEXT,
    commit_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, mailing_list_id),
    FOREIGN KEY (account_id, parent_mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX list_downloads_by_commit ON list_downloads (account_id, commit_id, +mailing_list_id);

-- closed_at: NULL until the issue is closed. mailing_list_id: its main list.
CREATE TABLE issues (
    account_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    name TEXT,
    date TEXT,
    number INTEGER,
    closes_on TEXT,
    mailed_on TEXT,
    closed_at TEXT,
    mailing_list_id INTEGER,
    file_written_at TEXT,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, issue_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id)
) STRICT, WITHOUT ROWID;

-- first_name_folded, last_name_folded: Unicode case folding, as Python has it. *_plain,
-- last_name_end: other forms of names that have some (masthead.store.name_forms). What is compared
-- without regard to ASCII letter case has a column of its own: under PostgreSQL's policies no index
-- on an expression is used, because lower() is not known to keep what it reads to itself.
-- password_hash_loaded: the SHA-256 of the digest that was loaded, by which the same digest in the
-- next file is known after a better one has replaced it (masthead.store.passwords).
-- removed_at: the delete_date that a removal set, by which one is known that no file has.
-- merged_into: of one who was merged, the subscriber who is kept; that one was never merged.
CREATE TABLE subscribers (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    subscriber_id INTEGER NOT NULL,
    renewal_code TEXT,
    email TEXT,
    password_md5 TEXT,
    password_hash TEXT,
    first_name TEXT,
    last_name TEXT,
    source TEXT,
    delete_date TEXT,
    merged_into INTEGER,
    first_name_folded TEXT,
    last_name_folded TEXT,
    first_name_plain TEXT,
    last_name_plain TEXT,
    last_name_end TEXT,
    password_hash_loaded TEXT,
    removed_at TEXT,
    renewal_code_lower TEXT GENERATED ALWAYS AS (lower(renewal_code)) VIRTUAL,
    email_lower TEXT GENERATED ALWAYS AS (lower(email)) VIRTUAL,
    source_lower TEXT GENERATED ALWAYS AS (lower(source)) VIRTUAL,
    commit_id INTEGER NOT NULL,
    custom_fields_commit_id INTEGER NOT NULL,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, merged_into)
        REFERENCES subscribers (account_id, subscriber_id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX subscribers_by_renewal_code ON subscribers (account_id, renewal_code_lower);
CREATE INDEX subscribers_by_email ON subscribers (account_id, email_lower);
CREATE INDEX subscribers_by_source ON subscribers (account_id, source_lower, +subscriber_id);
CREATE INDEX subscribers_by_first_name
    ON subscribers (account_id, first_name_folded, +subscriber_id);
CREATE INDEX subscribers_by_last_name ON subscribers (account_id, last_name_folded, +subscriber_id);
CREATE INDEX subscribers_by_name
    ON subscribers (account_id, last_name_folded, first_name_folded, +subscriber_id);
CREATE INDEX subscribers_by_first_name_plain
    ON subscribers (account_id, first_name_plain, +subscriber_id)
    WHERE first_name_plain IS NOT NULL;
CREATE INDEX subscribers_by_last_name_plain
    ON subscribers (account_id, last_name_plain, +subscriber_id)
    WHERE last_name_plain IS NOT NULL;
CREATE INDEX subscribers_by_last_name_end
    ON subscribers (account_id, last_name_end, +subscriber_id)
    WHERE last_name_end IS NOT NULL;
CREATE INDEX subscribers_by_delete_date
    ON subscribers (account_id, delete_date) WHERE delete_date IS NOT NULL;
CREATE INDEX subscribers_by_merged_into
    ON subscribers (account_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX subscribers_by_commit ON subscribers (account_id, commit_id, +subscriber_id);
CREATE INDEX subscribers_by_custom_fields_commit
    ON subscribers (account_id, custom_fields_commit_id, +subscriber_id);

CREATE TABLE addresses (
    account_id INTEGER NOT NULL,
    address_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    first_name TEXT,
    last_name TEXT,
    company TEXT,
    address TEXT,
    city TEXT,
    state TEXT,
    zip_code TEXT,
    country_name TEXT,
    country_abbreviation TEXT,
    latitude TEXT,
    longitude TEXT,
    verified INTEGER NOT NULL DEFAULT 0,
    commit_id INTEGER NOT NULL,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, address_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_by_subscriber ON addresses (account_id, subscriber_id);
CREATE INDEX addresses_by_commit ON addresses (account_id, commit_id, +address_id);
-- By these, operators find readers and duplicates.
CREATE INDEX addresses_by_place
    ON addresses (account_id, lower(zip_code), lower(address), subscriber_id);
CREATE INDEX addresses_by_street ON addresses (account_id, lower(address), subscriber_id);
CREATE INDEX addresses_by_company ON addresses (account_id, lower(company), subscriber_id)
    WHERE company IS NOT NULL;

-- kind, on PostgreSQL: the values by which operation 7 filters, in one column, since no index finds
-- a missing value by comparing it with another row's. Only the type may be any text, so no two
-- kinds are the same. A list is merged from the kinds that match, each in the order of its ids: so
-- it takes as long in a large account as in a small one.
--
-- merged_into: of one that was merged, the subscription that has its terms.
CREATE TABLE subscriptions (
    account_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    mailing_address_id INTEGER,
    billing_address_id INTEGER,
    issues INTEGER,
    copies INTEGER,
    paid_issues_left INTEGER,
    unearned_revenue TEXT,
    type TEXT,
    date_created TEXT,
    date_expired TEXT,
    date_last_renewed TEXT,
    last_purchase_bundle_id INTEGER,
    last_purchase_id INTEGER,
    renew_campaign_active INTEGER NOT NULL DEFAULT 0,
    audit_classification TEXT,
    audit_request_type TEXT,
    begins_on TEXT,
    cancelled_on TEXT,
    merged_into INTEGER,
-- [postgresql]
    kind TEXT GENERATED ALWAYS AS (
        CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
        || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
        || '|' || CAST(renew_campaign_active AS TEXT)) STORED,
-- [both]
    commit_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, merged_into)
        REFERENCES subscriptions (account_id, subscription_id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_by_subscriber ON subscriptions (account_id, subscriber_id);
CREATE INDEX subscriptions_by_merged_into
    ON subscriptions (account_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX subscriptions_by_commit ON subscriptions (account_id, commit_id, +subscription_id);
-- By these, rows are found that refer to an address which is to be removed.
CREATE INDEX subscriptions_by_mailing_address
    ON subscriptions (account_id, mailing_address_id) WHERE mailing_address_id IS NOT NULL;
CREATE INDEX subscriptions_by_billing_address
    ON subscriptions (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;
-- [sqlite]
CREATE INDEX subscriptions_by_kind ON subscriptions (
    account_id, publication_id, type, copies, issues, renew_campaign_active);
-- [postgresql]
CREATE INDEX subscriptions_by_kind ON subscriptions (account_id, kind, subscription_id);
-- [both]

-- The kinds that an account's subscriptions have, or had: each combination of the values by which
-- operation 7 filters, once. A filter that no kind matches selects nothing, and no subscription is
-- read.
CREATE TABLE subscription_kinds (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    type TEXT,
    copies INTEGER,
    issues INTEGER,
-- [postgresql]
    kind TEXT GENERATED ALWAYS AS (
        CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
        || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
        || '|' || CAST(renew_campaign_active AS TEXT)) STORED,
-- [both]
    renew_campaign_active INTEGER NOT NULL
) STRICT;
CREATE INDEX subscription_kinds_by_account ON subscription_kinds (
    account_id, publication_id, type, copies, issues, renew_campaign_active);

CREATE TABLE custom_fields (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    field_id INTEGER NOT NULL,
    name TEXT,
    display_as TEXT,
    type TEXT NOT NULL,
    allow_other INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, field_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE custom_field_options (
    account_id INTEGER NOT NULL,
    option_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    value TEXT,
    display_as TEXT,
    disqualifier INTEGER NOT NULL DEFAULT 0,
    active INTEGER NOT NULL DEFAULT 0,
    "order" INTEGER,
    PRIMARY KEY (account_id, option_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
) STRICT, WITHOUT ROWID;

-- option_ids: in ascending order, separated by '|'.
CREATE TABLE custom_field_answers (
    account_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    option_ids TEXT,
    text_value TEXT,
    answered_on TEXT,
    PRIMARY KEY (account_id, subscriber_id, field_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
) STRICT, WITHOUT ROWID;

-- The classes of copies that are the publisher's own, beside those that everybody has.
CREATE TABLE classes (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    class_id INTEGER NOT NULL,
    name TEXT,
    PRIMARY KEY (account_id, class_id)
) STRICT, WITHOUT ROWID;

-- Amounts of the books are whole cents. issues: -1 is unlimited. digital_share: the part of the
-- price of a line that is for the digital issues, in hundredths of a percent; NULL is none.
CREATE TABLE bundles (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    bundle_id INTEGER NOT NULL,
    name TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    price INTEGER NOT NULL DEFAULT 0,
    tax INTEGER NOT NULL DEFAULT 0,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, bundle_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE bundle_lines (
    account_id INTEGER NOT NULL,
    bundle_id INTEGER NOT NULL,
    line_number INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    issues INTEGER NOT NULL,
    type TEXT NOT NULL,
    copies INTEGER NOT NULL DEFAULT 1,
    price INTEGER NOT NULL DEFAULT 0,
    months INTEGER,
    digital_share INTEGER,
    PRIMARY KEY (account_id, bundle_id, line_number),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE products (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    product_id INTEGER NOT NULL,
    name TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    price INTEGER NOT NULL DEFAULT 0,
    tax INTEGER NOT NULL DEFAULT 0,
    given_here INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, product_id)
) STRICT, WITHOUT ROWID;

-- external_reference: its number in a shop, once in an account. content_digest: SHA-256 of what was
-- ordered, by which an order that comes again is known. payment_reference: such as the number of a
-- transfer. dispute: what the reader or the bank says; it is open while dispute_ended_on is NULL.
-- shipping: cents that grand_total includes; tax_total includes shipping_tax.
CREATE TABLE orders (
    account_id INTEGER NOT NULL,
    order_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    mailing_address_id INTEGER,
    billing_address_id INTEGER,
    import_name TEXT,
    user_id INTEGER,
    channel_id INTEGER,
    order_date TEXT,
    is_gift INTEGER NOT NULL DEFAULT 0,
    sub_total TEXT NOT NULL DEFAULT '0',
    tax_total TEXT NOT NULL DEFAULT '0',
    grand_total TEXT NOT NULL DEFAULT '0',
    external_reference TEXT,
    content_digest TEXT,
    paid_on TEXT,
    payment_type TEXT,
    payment_reference TEXT,
    disputed_on TEXT,
    dispute TEXT,
    dispute_ended_on TEXT,
    dispute_result TEXT,
    shipping INTEGER NOT NULL DEFAULT 0,
    shipping_tax INTEGER NOT NULL DEFAULT 0,
    external_reference_lower TEXT
        GENERATED ALWAYS AS (lower(external_reference)) VIRTUAL,
    commit_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, order_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX orders_by_external_reference
    ON orders (account_id, external_reference_lower) WHERE external_reference_lower IS NOT NULL;
CREATE INDEX orders_by_subscriber ON orders (account_id, subscriber_id, +order_id);
CREATE INDEX orders_in_dispute ON orders (account_id, order_id)
    WHERE disputed_on IS NOT NULL AND dispute_ended_on IS NULL;
CREATE INDEX orders_by_commit ON orders (account_id, commit_id, +order_id);
CREATE INDEX orders_by_mailing_address
    ON orders (account_id, mailing_address_id) WHERE mailing_address_id IS NOT NULL;
CREATE INDEX orders_by_billing_address
    ON orders (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;

CREATE TABLE purchases (
    account_id INTEGER NOT NULL,
    purchase_id INTEGER NOT NULL,
    payment_type TEXT,
    notes TEXT,
    subscriber_id INTEGER NOT NULL,
    bundle_id INTEGER,
    shipping_address_id INTEGER,
    billing_address_id INTEGER,
    name TEXT,
    invoice_id TEXT,
    total TEXT,
    product_total TEXT,
    is_gift INTEGER NOT NULL DEFAULT 0,
    commit_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, purchase_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, shipping_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX purchases_by_subscriber ON purchases (account_id, subscriber_id);
CREATE INDEX purchases_by_commit ON purchases (account_id, commit_id, +purchase_id);
CREATE INDEX purchases_by_shipping_address
    ON purchases (account_id, shipping_address_id) WHERE shipping_address_id IS NOT NULL;
CREATE INDEX purchases_by_billing_address
    ON purchases (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;

-- is_dropped: a product that ended before its order was paid, so that nothing came for it.
-- copies: how many were ordered. list_price: the cents with tax that one cost in the catalogue, if
-- the order had another price.
CREATE TABLE order_items (
    account_id INTEGER NOT NULL,
    order_item_id INTEGER NOT NULL,
    order_id INTEGER NOT NULL,
    bundle_id INTEGER,
    product_id INTEGER,
    refund_date TEXT,
    fulfilled_date TEXT,
    sub_total TEXT NOT NULL DEFAULT '0',
    tax_total TEXT NOT NULL DEFAULT '0',
    grand_total TEXT NOT NULL DEFAULT '0',
    purchase_id INTEGER,
    refunded INTEGER NOT NULL DEFAULT 0,
    is_dropped INTEGER NOT NULL DEFAULT 0,
    copies INTEGER NOT NULL DEFAULT 1,
    list_price INTEGER,
    PRIMARY KEY (account_id, order_item_id),
    CHECK ((bundle_id IS NULL) <> (product_id IS NULL)),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id),
    FOREIGN KEY (account_id, purchase_id) REFERENCES purchases (account_id, purchase_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX order_items_by_order ON order_items (account_id, order_id, +order_item_id);
CREATE INDEX order_items_by_purchase
    ON order_items (account_id, purchase_id) WHERE purchase_id IS NOT NULL;

-- issues: -1 is unlimited, for so many months from starts_on. ended_at: when it was refunded or
-- cancelled; moved_after: the newest list when its subscription came to another subscriber.
-- free_copies come beside the copies, in a class of their own. allowed: the cents that an allowance
-- has given back. What the first spread_after issues did not earn, which is spread_earned, is
-- spread over spread_parts: the issues times the copies that were left then; NULL is those of the
-- whole term.
CREATE TABLE terms (
    account_id INTEGER NOT NULL,
    term_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    order_item_id INTEGER,
    issues INTEGER NOT NULL,
    issues_left INTEGER NOT NULL,
    copies INTEGER NOT NULL DEFAULT 1,
    price INTEGER NOT NULL DEFAULT 0,
    paid_on TEXT,
    kind TEXT NOT NULL,
    class TEXT NOT NULL DEFAULT 'paid',
    months INTEGER,
    starts_on TEXT,
    ended_at TEXT,
    moved_after INTEGER,
    free_copies INTEGER NOT NULL DEFAULT 0,
    free_class TEXT,
    allowed INTEGER NOT NULL DEFAULT 0,
    spread_after INTEGER NOT NULL DEFAULT 0,
    spread_earned INTEGER NOT NULL DEFAULT 0,
    spread_parts INTEGER,
    PRIMARY KEY (account_id, term_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, order_item_id) REFERENCES order_items (account_id, order_item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX terms_by_subscription ON terms (account_id, subscription_id, term_id);
CREATE INDEX terms_not_paid ON terms (account_id, subscription_id, term_id)
    WHERE price > 0 AND paid_on IS NULL AND issues_left <> 0;
CREATE INDEX terms_by_order_item
    ON terms (account_id, order_item_id) WHERE order_item_id IS NOT NULL;

-- Rows are only ever added. For each term, received = earned + refunded + what is unearned.
CREATE TABLE revenue (
    account_id INTEGER NOT NULL,
    revenue_id INTEGER NOT NULL,
    term_id INTEGER NOT NULL,
    issue_id INTEGER,
    kind TEXT NOT NULL,
    cents INTEGER NOT NULL,
    booked_on TEXT NOT NULL,
    PRIMARY KEY (account_id, revenue_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX revenue_by_term ON revenue (account_id, term_id);
CREATE INDEX revenue_by_issue
    ON revenue (account_id, issue_id) WHERE issue_id IS NOT NULL;
-- It has all that the liability report reads of an issue's revenue.
CREATE INDEX revenue_by_day ON revenue (account_id, booked_on, issue_id, kind, cents);

-- What was delivered: by which list, out of which term (NULL: grace that no term has paid for yet),
-- to which address. That one is no reference: it says what was, also of an address that is gone.
CREATE TABLE subscription_issues (
    account_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    mailing_list_id INTEGER,
    term_id INTEGER,
    is_grace INTEGER NOT NULL DEFAULT 0,
    address_id INTEGER,
    PRIMARY KEY (account_id, subscription_id, issue_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscription_issues_by_issue ON subscription_issues (account_id, issue_id);
CREATE INDEX subscription_issues_by_list
    ON subscription_issues (account_id, mailing_list_id) WHERE mailing_list_id IS NOT NULL;
CREATE INDEX subscription_issues_by_term
    ON subscription_issues (account_id, term_id) WHERE term_id IS NOT NULL;

-- to_date, here and below: the last day; NULL while the suspension is open.
CREATE TABLE suspensions (
    account_id INTEGER NOT NULL,
    suspension_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    from_date TEXT NOT NULL,
    to_date TEXT,
    PRIMARY KEY (account_id, suspension_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX suspensions_by_subscription ON suspensions (account_id, subscription_id);

CREATE TABLE temporary_addresses (
    account_id INTEGER NOT NULL,
    temporary_address_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    address_id INTEGER NOT NULL,
    from_date TEXT NOT NULL,
    to_date TEXT NOT NULL,
    PRIMARY KEY (account_id, temporary_address_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, address_id) REFERENCES addresses (account_id, address_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX temporary_addresses_by_subscription
    ON temporary_addresses (account_id, subscription_id);
CREATE INDEX temporary_addresses_by_address ON temporary_addresses (account_id, address_id);

-- Copies of delivered issues that are sent again. written_at: when a file had it; NULL before that.
CREATE TABLE replacements (
    account_id INTEGER NOT NULL,
    replacement_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    copies INTEGER NOT NULL DEFAULT 1,
    asked_on TEXT NOT NULL,
    written_at TEXT,
    PRIMARY KEY (account_id, replacement_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX replacements_by_subscription ON replacements (account_id, subscription_id);
CREATE INDEX replacements_by_issue ON replacements (account_id, issue_id);
CREATE INDEX replacements_by_file ON replacements (account_id, written_at);

-- What operators wrote about subscribers. The text is null once the subscriber is erased.
CREATE TABLE notes (
    account_id INTEGER NOT NULL,
    note_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    noted_at TEXT,
    author TEXT,
    text TEXT,
    PRIMARY KEY (account_id, note_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_by_subscriber ON notes (account_id, subscriber_id, +note_id);

-- kind is lost, damaged, late or other; answer is extended, sent_again or nothing.
CREATE TABLE complaints (
    account_id INTEGER NOT NULL,
    complaint_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    answer TEXT NOT NULL,
    made_at TEXT,
    author TEXT,
    text TEXT,
    PRIMARY KEY (account_id, complaint_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX complaints_by_subscriber ON complaints (account_id, subscriber_id, +complaint_id);
CREATE INDEX complaints_by_subscription ON complaints (account_id, subscription_id);
CREATE INDEX complaints_by_issue ON complaints (account_id, issue_id);

-- Why subscriptions are cancelled, in the publisher's words.
CREATE TABLE cancellation_reasons (
    account_id INTEGER NOT NULL,
    reason_id INTEGER NOT NULL,
    name TEXT,
    PRIMARY KEY (account_id, reason_id)
) STRICT, WITHOUT ROWID;

-- How a subscription was cancelled: at once; with the closing of after_issue_id; or at_end, when
-- its issues are used up. campaign is renew_campaign_active before. ended_on is null until it has
-- ended: by the closing of ended_issue_id, or at once. Nothing is booked of it after revenue_id.
-- final_issue_id is the first issue that was closed since: it cannot be undone any more.
CREATE TABLE cancellations (
    account_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    reason TEXT,
    made_on TEXT NOT NULL,
    after_issue_id INTEGER,
    at_end INTEGER NOT NULL DEFAULT 0,
    is_refund INTEGER NOT NULL DEFAULT 0,
    campaign INTEGER NOT NULL DEFAULT 0,
    ended_on TEXT,
    ended_issue_id INTEGER,
    revenue_id INTEGER,
    final_issue_id INTEGER,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, after_issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, ended_issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, final_issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cancellations_by_after_issue
    ON cancellations (account_id, after_issue_id) WHERE after_issue_id IS NOT NULL;
CREATE INDEX cancellations_by_ended_issue
    ON cancellations (account_id, ended_issue_id) WHERE ended_issue_id IS NOT NULL;
CREATE INDEX cancellations_by_final_issue
    ON cancellations (account_id, final_issue_id) WHERE final_issue_id IS NOT NULL;
CREATE INDEX cancellations_to_come
    ON cancellations (account_id, subscription_id) WHERE ended_on IS NULL;

-- What ended a term that a cancelled subscription had, so that it can be undone: its issues left,
-- what was earned or refunded, the tax that went back with it, and the item's refund_date before.
CREATE TABLE cancelled_terms (
    account_id INTEGER NOT NULL,
    term_id INTEGER NOT NULL,
    issues_left INTEGER NOT NULL,
    earned INTEGER NOT NULL DEFAULT 0,
    refunded INTEGER NOT NULL DEFAULT 0,
    tax INTEGER NOT NULL DEFAULT 0,
    refund_date TEXT,
    PRIMARY KEY (account_id, term_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id)
) STRICT, WITHOUT ROWID;

-- An effort is due at so many issues left; 0 and below: so many issues after the last one. Its
-- letter names a bundle.
CREATE TABLE renewal_efforts (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    effort INTEGER NOT NULL,
    issues_left INTEGER NOT NULL,
    bundle_id INTEGER,
    key_code TEXT,
    PRIMARY KEY (account_id, publication_id, effort),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX renewal_efforts_by_bundle
    ON renewal_efforts (account_id, bundle_id) WHERE bundle_id IS NOT NULL;

CREATE TABLE renewals_sent (
    account_id INTEGER NOT NULL,
    term_id INTEGER NOT NULL,
    effort INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    sent_on TEXT NOT NULL,
    PRIMARY KEY (account_id, term_id, effort),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX renewals_sent_by_subscription ON renewals_sent (account_id, subscription_id);

-- qualification_id: by which the copies go out. It is no reference: qualifications are only added.
CREATE TABLE mailing_list_entries (
    account_id INTEGER NOT NULL,
    mailing_list_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    copies INTEGER,
    is_grace INTEGER NOT NULL DEFAULT 0,
    is_paid INTEGER NOT NULL DEFAULT 0,
    type TEXT,
    class TEXT,
    free_copies INTEGER NOT NULL DEFAULT 0,
    free_class TEXT,
    qualification_id INTEGER,
    PRIMARY KEY (account_id, mailing_list_id, subscription_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailing_list_entries_by_subscription
    ON mailing_list_entries (account_id, subscription_id, mailing_list_id);

-- Billing: an account with the row makes an invoice of each order with a price. Amounts are whole
-- cents, percentages hundredths of a percent.
CREATE TABLE billing (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    billing_id INTEGER NOT NULL CHECK (billing_id = 1),
    begun_on TEXT NOT NULL,
    PRIMARY KEY (account_id, billing_id)
) STRICT, WITHOUT ROWID;

-- Only the settings that were set; the others have their defaults.
CREATE TABLE billing_settings (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    setting_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    PRIMARY KEY (account_id, setting_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX billing_settings_by_name ON billing_settings (account_id, name);

-- country: its code of ISO 3166 with two letters. state: NULL is all states that have no rate.
CREATE TABLE tax_rates (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    rate_id INTEGER NOT NULL,
    country TEXT NOT NULL,
    state TEXT,
    goods TEXT NOT NULL CHECK (goods IN ('print', 'digital', 'product', 'shipping')),
    percent INTEGER NOT NULL,
    begins_on TEXT NOT NULL,
    PRIMARY KEY (account_id, rate_id)
) STRICT, WITHOUT ROWID;

-- The price of one ordered copy of a bundle's line of the type. country: NULL is all that have no
-- price.
CREATE TABLE shipping_prices (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    shipping_price_id INTEGER NOT NULL,
    country TEXT,
    type TEXT NOT NULL CHECK (type IN ('Print', 'Digital', 'Both')),
    cents INTEGER NOT NULL DEFAULT 0,
    begins_on TEXT NOT NULL,
    PRIMARY KEY (account_id, shipping_price_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE payer_details (
    account_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    vat_id TEXT,
    by_email INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;

-- Rows are only ever added. The numbers of a series have no gaps. number_text: the number as it is
-- printed. open_cents: what is not settled. printed: all that is printed, as JSON; NULL once the
-- payer is erased.
CREATE TABLE invoices (
    account_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('invoice', 'receipt', 'credit_note')),
    series TEXT NOT NULL,
    number INTEGER NOT NULL,
    number_text TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    order_id INTEGER,
    of_invoice_id INTEGER,
    issued_on TEXT NOT NULL,
    due_on TEXT,
    net INTEGER NOT NULL,
    tax INTEGER NOT NULL,
    total INTEGER NOT NULL,
    open_cents INTEGER NOT NULL,
    payment_reference TEXT,
    reason TEXT,
    printed TEXT,
    PRIMARY KEY (account_id, invoice_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id),
    FOREIGN KEY (account_id, of_invoice_id)
        REFERENCES invoices (account_id, invoice_id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX invoices_by_number ON invoices (account_id, series, number);
CREATE INDEX invoices_by_number_text ON invoices (account_id, number_text);
CREATE INDEX invoices_by_payment_reference
    ON invoices (account_id, payment_reference) WHERE payment_reference IS NOT NULL;
CREATE INDEX invoices_by_subscriber ON invoices (account_id, subscriber_id, +invoice_id);
CREATE INDEX invoices_by_order ON invoices (account_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX invoices_by_of_invoice
    ON invoices (account_id, of_invoice_id) WHERE of_invoice_id IS NOT NULL;
CREATE INDEX invoices_open
    ON invoices (account_id, subscriber_id, invoice_id) WHERE open_cents > 0;
-- It holds all that sums of open invoices need: invoices are long rows. Those without a due day
-- come first.
CREATE INDEX invoices_due
    ON invoices (account_id, due_on, invoice_id, open_cents) WHERE open_cents > 0; -- [sqlite]
    ON invoices (account_id, due_on NULLS FIRST, invoice_id, open_cents) -- [postgresql]
    WHERE open_cents > 0; -- [postgresql]

-- category: S, Z, E or AE, as EN 16931 has them.
CREATE TABLE invoice_lines (
    account_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    line_number INTEGER NOT NULL,
    order_item_id INTEGER,
    goods TEXT NOT NULL
        CHECK (goods IN ('print', 'digital', 'product', 'shipping', 'fee')),
    description TEXT,
    copies INTEGER NOT NULL DEFAULT 1,
    net INTEGER NOT NULL,
    tax INTEGER NOT NULL,
    percent INTEGER NOT NULL,
    category TEXT NOT NULL CHECK (category IN ('S', 'Z', 'E', 'AE')),
    PRIMARY KEY (account_id, invoice_id, line_number),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, order_item_id) REFERENCES order_items (account_id, order_item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX invoice_lines_by_order_item
    ON invoice_lines (account_id, order_item_id) WHERE order_item_id IS NOT NULL;

-- Rows are only ever added. cents: positive if the money came in. source: identifies the entry of a
-- bank statement. left_cents: what is not allocated.
CREATE TABLE payments (
    account_id INTEGER NOT NULL,
    payment_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'reversal', 'paid_back')),
    value_date TEXT NOT NULL,
    booked_on TEXT NOT NULL,
    cents INTEGER NOT NULL,
    fee INTEGER NOT NULL DEFAULT 0,
    payment_type TEXT,
    reference TEXT,
    reverses_id INTEGER,
    reason TEXT,
    source TEXT,
    left_cents INTEGER NOT NULL,
    PRIMARY KEY (account_id, payment_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, reverses_id)
        REFERENCES payments (account_id, payment_id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX payments_by_source ON payments (account_id, source) WHERE source IS NOT NULL;
CREATE INDEX payments_by_subscriber ON payments (account_id, subscriber_id, +payment_id);
CREATE INDEX payments_by_reversed
    ON payments (account_id, reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX payments_with_left
    ON payments (account_id, subscriber_id, payment_id) WHERE left_cents <> 0;

-- Rows are only ever added: what settles an invoice. Negative cents take an earlier one back.
CREATE TABLE allocations (
    account_id INTEGER NOT NULL,
    allocation_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'credit_note', 'write_off')),
    payment_id INTEGER,
    credit_note_id INTEGER,
    cents INTEGER NOT NULL,
    booked_on TEXT NOT NULL,
    PRIMARY KEY (account_id, allocation_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id),
    FOREIGN KEY (account_id, credit_note_id) REFERENCES invoices (account_id, invoice_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX allocations_by_invoice ON allocations (account_id, invoice_id, +allocation_id);
CREATE INDEX allocations_by_payment
    ON allocations (account_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX allocations_by_credit_note
    ON allocations (account_id, credit_note_id) WHERE credit_note_id IS NOT NULL;

-- Rows are only ever added; the lines of an entry add up to 0. account: such as receivables. cents:
-- positive is debit. The text names no person.
CREATE TABLE journal_lines (
    account_id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    line_number INTEGER NOT NULL,
    booked_on TEXT NOT NULL,
    account TEXT NOT NULL,
    cents INTEGER NOT NULL,
    text TEXT,
    invoice_id INTEGER,
    payment_id INTEGER,
    PRIMARY KEY (account_id, entry_id, line_number),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_lines_by_day ON journal_lines (account_id, booked_on, account, cents);
CREATE INDEX journal_lines_by_invoice
    ON journal_lines (account_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX journal_lines_by_payment
    ON journal_lines (account_id, payment_id) WHERE payment_id IS NOT NULL;

-- month_id: such as 202611. Nothing is booked into a closed month.
CREATE TABLE closed_months (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    month_id INTEGER NOT NULL,
    closed_on TEXT NOT NULL,
    PRIMARY KEY (account_id, month_id)
) STRICT, WITHOUT ROWID;

-- Files of banks of which an entry was new. digest: the SHA-256 of the file.
CREATE TABLE bank_files (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    bank_file_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    iban TEXT,
    payment_type TEXT,
    imported_at TEXT,
    PRIMARY KEY (account_id, bank_file_id)
) STRICT, WITHOUT ROWID;

-- fingerprint: the same for an entry in each file that has it. iban: the last four characters of
-- the other side's. subscriber_id: the payer whose entry it is, or is proposed to be.
CREATE TABLE bank_entries (
    account_id INTEGER NOT NULL,
    bank_entry_id INTEGER NOT NULL,
    bank_file_id INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    value_date TEXT NOT NULL,
    cents INTEGER NOT NULL,
    fee INTEGER NOT NULL DEFAULT 0,
    status TEXT NOT NULL
        CHECK (status IN ('settled', 'proposed', 'unknown', 'taken', 'ignored')),
    subscriber_id INTEGER,
    invoice_id INTEGER,
    payment_id INTEGER,
    name TEXT,
    iban TEXT,
    reference TEXT,
    end_to_end_id TEXT,
    return_reason TEXT,
    reason TEXT,
    PRIMARY KEY (account_id, bank_entry_id),
    FOREIGN KEY (account_id, bank_file_id) REFERENCES bank_files (account_id, bank_file_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX bank_entries_by_fingerprint ON bank_entries (account_id, fingerprint);
CREATE INDEX bank_entries_by_file ON bank_entries (account_id, bank_file_id, +bank_entry_id);
CREATE INDEX bank_entries_by_subscriber
    ON bank_entries (account_id, subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX bank_entries_by_invoice
    ON bank_entries (account_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX bank_entries_by_payment
    ON bank_entries (account_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX bank_entries_to_decide
    ON bank_entries (account_id, bank_entry_id) WHERE status IN ('proposed', 'unknown');

-- The permissions of payers to collect from their bank accounts. iban: sealed with the secret key;
-- iban_end: its last four characters. used_on: the day of the last collection.
CREATE TABLE mandates (
    account_id INTEGER NOT NULL,
    mandate_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    reference TEXT NOT NULL,
    scheme TEXT NOT NULL CHECK (scheme IN ('core', 'b2b')),
    account_holder TEXT,
    iban TEXT,
    iban_end TEXT,
    bic TEXT,
    signed_on TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'resting', 'ended')),
    status_since TEXT NOT NULL,
    reason TEXT,
    used_on TEXT,
    PRIMARY KEY (account_id, mandate_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mandates_by_reference ON mandates (account_id, reference);
CREATE INDEX mandates_by_subscriber ON mandates (account_id, subscriber_id, +mandate_id);

-- The files of collections for the bank. claims: their number, cents: their sum.
CREATE TABLE debit_runs (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    debit_run_id INTEGER NOT NULL,
    created_at TEXT,
    collected_on TEXT NOT NULL,
    message_id TEXT NOT NULL,
    version TEXT NOT NULL CHECK (version IN ('pain.008.001.08', 'pain.008.001.02')),
    claims INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    creditor TEXT,
    PRIMARY KEY (account_id, debit_run_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX debit_runs_by_message ON debit_runs (account_id, message_id);

-- The invoices that a run hands in to the bank.
CREATE TABLE claims (
    account_id INTEGER NOT NULL,
    claim_id INTEGER NOT NULL,
    debit_run_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    mandate_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    cents INTEGER NOT NULL,
    end_to_end_id TEXT NOT NULL,
    sequence TEXT NOT NULL CHECK (sequence IN ('FRST', 'RCUR', 'OOFF', 'FNAL')),
    status TEXT NOT NULL CHECK (status IN ('sent', 'paid', 'returned', 'cancelled')),
    payment_id INTEGER,
    returned_on TEXT,
    return_reason TEXT,
    fee INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, claim_id),
    FOREIGN KEY (account_id, debit_run_id) REFERENCES debit_runs (account_id, debit_run_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, mandate_id) REFERENCES mandates (account_id, mandate_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX claims_by_end_to_end_id ON claims (account_id, end_to_end_id);
CREATE INDEX claims_by_run ON claims (account_id, debit_run_id, +claim_id);
CREATE INDEX claims_by_invoice ON claims (account_id, invoice_id, +claim_id);
CREATE INDEX claims_by_mandate ON claims (account_id, mandate_id, +claim_id);
CREATE INDEX claims_by_subscriber ON claims (account_id, subscriber_id, +claim_id);
CREATE INDEX claims_by_payment
    ON claims (account_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX claims_with_the_bank ON claims (account_id, invoice_id) WHERE status = 'sent';

-- The steps of reminding. days: after the due date.
CREATE TABLE reminder_levels (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    level INTEGER NOT NULL,
    days INTEGER NOT NULL,
    fee INTEGER NOT NULL DEFAULT 0,
    then_do TEXT NOT NULL CHECK (then_do IN ('nothing', 'stop', 'write_off')),
    text TEXT,
    PRIMARY KEY (account_id, level)
) STRICT, WITHOUT ROWID;

-- fee_invoice_id: the invoice of the fee. read_until: up to which value date payments were read.
CREATE TABLE reminders (
    account_id INTEGER NOT NULL,
    reminder_id INTEGER NOT NULL,
    invoice_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    level INTEGER NOT NULL,
    reminded_on TEXT NOT NULL,
    fee INTEGER NOT NULL DEFAULT 0,
    fee_invoice_id INTEGER,
    read_until TEXT,
    printed TEXT,
    PRIMARY KEY (account_id, reminder_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, fee_invoice_id) REFERENCES invoices (account_id, invoice_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reminders_by_invoice ON reminders (account_id, invoice_id, level);
CREATE INDEX reminders_by_subscriber ON reminders (account_id, subscriber_id, +reminder_id);
CREATE INDEX reminders_by_fee_invoice
    ON reminders (account_id, fee_invoice_id) WHERE fee_invoice_id IS NOT NULL;

-- The consents to automatic renewal with a bundle. At most one of a subscription runs.
CREATE TABLE renewal_consents (
    account_id INTEGER NOT NULL,
    consent_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    bundle_id INTEGER NOT NULL,
    given_on TEXT NOT NULL,
    words TEXT,
    source TEXT,
    stopped_on TEXT,
    stop_reason TEXT,
    PRIMARY KEY (account_id, consent_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX renewal_consents_that_run
    ON renewal_consents (account_id, subscription_id) WHERE stopped_on IS NULL;
CREATE INDEX renewal_consents_by_subscription
    ON renewal_consents (account_id, subscription_id, +consent_id);
CREATE INDEX renewal_consents_by_subscriber
    ON renewal_consents (account_id, subscriber_id, +consent_id);
CREATE INDEX renewal_consents_by_bundle ON renewal_consents (account_id, bundle_id, +consent_id);

-- term_id: the term that runs out, which is renewed once.
CREATE TABLE announced_renewals (
    account_id INTEGER NOT NULL,
    announcement_id INTEGER NOT NULL,
    consent_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    term_id INTEGER NOT NULL,
    bundle_id INTEGER NOT NULL,
    price INTEGER NOT NULL,
    tax INTEGER NOT NULL,
    announced_on TEXT NOT NULL,
    renews_on TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('announced', 'renewed', 'stopped', 'refused')),
    order_id INTEGER,
    reason TEXT,
    PRIMARY KEY (account_id, announcement_id),
    FOREIGN KEY (account_id, consent_id) REFERENCES renewal_consents (account_id, consent_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX announced_renewals_by_term
    ON announced_renewals (account_id, subscription_id, term_id);
CREATE INDEX announced_renewals_of_a_term ON announced_renewals (account_id, term_id);
CREATE INDEX announced_renewals_by_consent
    ON announced_renewals (account_id, consent_id, +announcement_id);
CREATE INDEX announced_renewals_by_bundle
    ON announced_renewals (account_id, bundle_id, +announcement_id);
CREATE INDEX announced_renewals_by_order
    ON announced_renewals (account_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX announced_renewals_to_come
    ON announced_renewals (account_id, renews_on, announcement_id) WHERE status = 'announced';

-- The emails that are sent, not before due_at, or were.
CREATE TABLE mails (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    mail_id INTEGER NOT NULL,
    subscriber_id INTEGER,
    address TEXT,
    kind TEXT NOT NULL
        CHECK (kind IN ('invoice', 'credit_note', 'reminder', 'announcement', 'welcome',
            'cancellation', 'renewal', 'sign_in_link', 'password_link', 'confirmation',
            'requalification')),
    subject TEXT,
    text TEXT,
    invoice_id INTEGER,
    reminder_id INTEGER,
    subscription_id INTEGER,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'sent', 'failed', 'held', 'cancelled')),
    queued_at TEXT,
    due_at TEXT,
    tries INTEGER NOT NULL DEFAULT 0,
    sent_at TEXT,
    error TEXT,
    message_id TEXT,
    PRIMARY KEY (account_id, mail_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, reminder_id) REFERENCES reminders (account_id, reminder_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mails_by_subscriber
    ON mails (account_id, subscriber_id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX mails_by_invoice ON mails (account_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX mails_by_reminder ON mails (account_id, reminder_id) WHERE reminder_id IS NOT NULL;
CREATE INDEX mails_by_subscription
    ON mails (account_id, subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX mails_by_status ON mails (account_id, status, due_at, mail_id);
CREATE INDEX mails_sent ON mails (account_id, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX mails_by_message ON mails (account_id, message_id) WHERE message_id IS NOT NULL;

-- The email addresses that get no emails, since they bounce.
CREATE TABLE held_addresses (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    held_address_id INTEGER NOT NULL,
    subscriber_id INTEGER,
    address TEXT,
    held_on TEXT NOT NULL,
    reason TEXT,
    bounces INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, held_address_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX held_addresses_by_address
    ON held_addresses (account_id, address) WHERE address IS NOT NULL;
CREATE INDEX held_addresses_by_subscriber
    ON held_addresses (account_id, subscriber_id) WHERE subscriber_id IS NOT NULL;

-- The letters about subscriptions that were written.
CREATE TABLE letters (
    account_id INTEGER NOT NULL,
    letter_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('welcome', 'cancellation')),
    subscription_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    written_on TEXT NOT NULL,
    by_email INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, letter_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX letters_by_subscription ON letters (account_id, subscription_id, +letter_id);
CREATE INDEX letters_by_subscriber ON letters (account_id, subscriber_id, +letter_id);

-- Only the settings of the readers' pages that were set; the others have their defaults.
CREATE TABLE page_settings (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    setting_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    PRIMARY KEY (account_id, setting_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX page_settings_by_name ON page_settings (account_id, name);

-- The bundles that readers can renew with, buy or give on their pages.
CREATE TABLE reader_bundles (
    account_id INTEGER NOT NULL,
    bundle_id INTEGER NOT NULL,
    renew INTEGER NOT NULL DEFAULT 0 CHECK (renew IN (0, 1)),
    buy INTEGER NOT NULL DEFAULT 0 CHECK (buy IN (0, 1)),
    gift INTEGER NOT NULL DEFAULT 0 CHECK (gift IN (0, 1)),
    PRIMARY KEY (account_id, bundle_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
) STRICT, WITHOUT ROWID;

-- What readers changed on their pages. before, after: JSON.
CREATE TABLE reader_changes (
    account_id INTEGER NOT NULL,
    reader_change_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    subscription_id INTEGER,
    kind TEXT NOT NULL
        CHECK (kind IN ('contact', 'address', 'subscription_address', 'temporary_address',
            'pause', 'resume', 'cancel', 'uncancel', 'automatic_renewal', 'order',
            'missing_copy', 'answers', 'consents', 'password')),
    made_at TEXT,
    before TEXT,
    after TEXT,
    undone_at TEXT,
    undone_by TEXT,
    PRIMARY KEY (account_id, reader_change_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reader_changes_by_subscriber
    ON reader_changes (account_id, subscriber_id, +reader_change_id);
CREATE INDEX reader_changes_by_subscription
    ON reader_changes (account_id, subscription_id) WHERE subscription_id IS NOT NULL;

-- The consents of readers, each for a purpose of the publisher.
CREATE TABLE reader_consents (
    account_id INTEGER NOT NULL,
    reader_consent_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    given_at TEXT,
    ended_at TEXT,
    PRIMARY KEY (account_id, reader_consent_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reader_consents_by_subscriber
    ON reader_consents (account_id, subscriber_id, +reader_consent_id);

-- What readers ask the desk for.
CREATE TABLE reader_requests (
    account_id INTEGER NOT NULL,
    reader_request_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    subscription_id INTEGER,
    issue_id INTEGER,
    kind TEXT NOT NULL CHECK (kind IN ('missing_copy', 'erasure', 'message')),
    text TEXT,
    made_at TEXT,
    answered_at TEXT,
    answered_by TEXT,
    PRIMARY KEY (account_id, reader_request_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reader_requests_by_subscriber
    ON reader_requests (account_id, subscriber_id, +reader_request_id);
CREATE INDEX reader_requests_by_subscription
    ON reader_requests (account_id, subscription_id) WHERE subscription_id IS NOT NULL;
CREATE INDEX reader_requests_by_issue
    ON reader_requests (account_id, issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX reader_requests_to_answer
    ON reader_requests (account_id, reader_request_id) WHERE answered_at IS NULL;

-- A publication that goes free to readers who qualify. months: how long a qualification is valid.
-- fills: by what the quota of a class is filled. type: of the subscriptions that qualifications
-- begin. agreed_text: what a reader agrees to.
CREATE TABLE qualification_forms (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    months INTEGER NOT NULL DEFAULT 36,
    fills TEXT NOT NULL DEFAULT 'newest'
        CHECK (fills IN ('newest', 'class', 'request')),
    type TEXT NOT NULL DEFAULT 'Print',
    agreed_text TEXT,
    PRIMARY KEY (account_id, publication_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id)
) STRICT, WITHOUT ROWID;

-- The questions of a form, in the order of position.
CREATE TABLE qualification_questions (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    required INTEGER NOT NULL DEFAULT 0 CHECK (required IN (0, 1)),
    allow_other INTEGER NOT NULL DEFAULT 0 CHECK (allow_other IN (0, 1)),
    PRIMARY KEY (account_id, publication_id, field_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX qualification_questions_by_field
    ON qualification_questions (account_id, field_id, +publication_id);

-- The audit classes of a publication: the first whose conditions hold, by position. One that is
-- not used any more has no position; qualifications of before still name it. quota: the most copies
-- of an issue; NULL is no ceiling.
CREATE TABLE audit_classes (
    account_id INTEGER NOT NULL,
    audit_class_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    position INTEGER,
    code TEXT NOT NULL,
    name TEXT,
    served INTEGER NOT NULL DEFAULT 1 CHECK (served IN (0, 1)),
    quota INTEGER,
    PRIMARY KEY (account_id, audit_class_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX audit_classes_by_code ON audit_classes (account_id, publication_id, code);

-- All conditions of a class must hold: one of the options was answered. option_ids: in ascending
-- order, separated by '|'.
CREATE TABLE audit_class_conditions (
    account_id INTEGER NOT NULL,
    audit_class_id INTEGER NOT NULL,
    field_id INTEGER NOT NULL,
    option_ids TEXT,
    PRIMARY KEY (account_id, audit_class_id, field_id),
    FOREIGN KEY (account_id, audit_class_id)
        REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_class_conditions_by_field
    ON audit_class_conditions (account_id, field_id, +audit_class_id);

-- How a qualification came. is_request: the reader asked for it.
CREATE TABLE request_types (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    request_type_id INTEGER NOT NULL,
    code TEXT NOT NULL,
    name TEXT,
    position INTEGER NOT NULL,
    is_request INTEGER NOT NULL DEFAULT 1 CHECK (is_request IN (0, 1)),
    PRIMARY KEY (account_id, request_type_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX request_types_by_code ON request_types (account_id, code);

-- Rows are only ever added; an erasure blanks what is personal. qualified_on: the day of the
-- answers. valid_until: the last day. request_type: the code. new_class_id: the class by the rules
-- of the classes that changed since; NULL is audit_class_id. answers: JSON, by the id of the field:
-- options, text. evidence: JSON.
CREATE TABLE qualifications (
    account_id INTEGER NOT NULL,
    qualification_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    subscription_id INTEGER,
    qualified_on TEXT NOT NULL,
    valid_until TEXT NOT NULL,
    request_type TEXT NOT NULL,
    audit_class_id INTEGER,
    new_class_id INTEGER,
    disqualified INTEGER NOT NULL DEFAULT 0 CHECK (disqualified IN (0, 1)),
    answers TEXT,
    taken_by TEXT,
    evidence TEXT,
    external_reference TEXT,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (account_id, qualification_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, audit_class_id) REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, new_class_id) REFERENCES audit_classes (account_id, audit_class_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX qualifications_by_subscriber
    ON qualifications (account_id, subscriber_id, +qualification_id);
CREATE INDEX qualifications_by_reference
    ON qualifications (account_id, publication_id, external_reference)
    WHERE external_reference IS NOT NULL;
CREATE INDEX qualifications_by_subscription ON qualifications (account_id, subscription_id)
    WHERE subscription_id IS NOT NULL;

-- The newest qualification of a subscription, by its day and then its id, with what closing reads.
-- It follows from the tables above, but for lapsed_by: the list whose closing noted that it lapsed.
-- served: its class is served, and no answer disqualifies.
CREATE TABLE qualified_subscriptions (
    account_id INTEGER NOT NULL,
    subscription_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    qualification_id INTEGER NOT NULL,
    audit_class_id INTEGER,
    class_position INTEGER,
    request_position INTEGER,
    qualified_on TEXT NOT NULL,
    valid_until TEXT NOT NULL,
    served INTEGER NOT NULL DEFAULT 1 CHECK (served IN (0, 1)),
    lapsed_by INTEGER,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, qualification_id)
        REFERENCES qualifications (account_id, qualification_id),
    FOREIGN KEY (account_id, audit_class_id) REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, lapsed_by) REFERENCES list_downloads (account_id, mailing_list_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX qualified_subscriptions_by_end
    ON qualified_subscriptions (account_id, publication_id, valid_until, +subscription_id);
CREATE INDEX qualified_subscriptions_by_list
    ON qualified_subscriptions (account_id, lapsed_by) WHERE lapsed_by IS NOT NULL;

-- The figures of the audit report of an issue, written with its file and never changed. Before
-- that, rows of the part 'noted removal' say why readers of the issue before do not get this one:
-- they are made with each list, and the figures replace them. position: of the row in the report.
CREATE TABLE audit_figures (
    account_id INTEGER NOT NULL,
    issue_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    part TEXT NOT NULL,
    key1 TEXT,
    key2 TEXT,
    key3 TEXT,
    subscriptions INTEGER NOT NULL DEFAULT 0,
    copies INTEGER NOT NULL DEFAULT 0,
    printed INTEGER NOT NULL DEFAULT 0,
    digital INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, issue_id, position),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
) STRICT, WITHOUT ROWID;

-- When readers are asked to requalify: so many days before the end, in a way.
CREATE TABLE requalification_efforts (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    effort INTEGER NOT NULL,
    days_before INTEGER NOT NULL,
    way TEXT NOT NULL CHECK (way IN ('letter', 'email', 'telephone')),
    PRIMARY KEY (account_id, publication_id, effort),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE requalifications_sent (
    account_id INTEGER NOT NULL,
    qualification_id INTEGER NOT NULL,
    effort INTEGER NOT NULL,
    sent_on TEXT,
    PRIMARY KEY (account_id, qualification_id, effort),
    FOREIGN KEY (account_id, qualification_id)
        REFERENCES qualifications (account_id, qualification_id)
) STRICT, WITHOUT ROWID;

-- The records that were removed, each with the commit that removed it last. A record that came back
-- keeps its row: whoever reads this table looks whether the record is there.
CREATE TABLE deletions (
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    entity TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    commit_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, entity, record_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deletions_by_commit ON deletions (account_id, entity, commit_id, +record_id);

-- Whose personal data are kept blank, whatever is loaded. erased_at: YYYY-MM-DD hh:mm:ss, in the
-- time zone of the account. It
-- refers to no row of subscribers: it holds also for a subscriber whom only a later load adds.
CREATE TABLE erasures (
    account_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    erased_at TEXT,
    PRIMARY KEY (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;

-- The ids of records that have none in their source: key_digest is that of their natural key there,
-- table_name the table, or what else an id of another system identifies. A row is never changed or
-- deleted before its account is, so that a key has the same id for ever; but the row with an empty
-- digest has the greatest id so far.
CREATE TABLE natural_keys (
    account_id INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    key_digest TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, table_name, key_digest)
) STRICT, WITHOUT ROWID;

-- [sqlite]
-- What the planner is told of the tables, instead of what it would guess: accounts with a million
-- rows in each table. So a query has the same plan in a small database and in a large one, and it
-- never walks an account where an index leads to a few rows.
ANALYZE accounts;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('loads', 'loads', '1000 100 1'),
    ('commits', 'commits', '10000 10000 1'),
    ('commits', 'commits_by_visible_at', '10000 10000 1'),
    ('publications', 'publications', '100 100 1'),
    ('issues', 'issues', '10000 10000 1'),
    ('books', 'books', '1 1 1'),
    ('subscribers', 'subscribers', '1000000 1000000 1'),
    ('subscribers', 'subscribers_by_renewal_code', '1000000 1000000 1'),
    ('subscribers', 'subscribers_by_email', '1000000 1000000 2'),
    ('subscribers', 'subscribers_by_source', '1000000 1000000 50000'),
    ('subscribers', 'subscribers_by_first_name', '1000000 1000000 1000'),
    ('subscribers', 'subscribers_by_last_name', '1000000 1000000 1000'),
    ('subscribers', 'subscribers_by_name', '1000000 1000000 1000 10'),
    ('subscribers', 'subscribers_by_delete_date', '1000 1000 1'),
    ('subscribers', 'subscribers_by_merged_into', '1000 1000 1'),
    ('subscribers', 'subscribers_by_commit', '1000000 1000000 1000'),
    ('subscribers', 'subscribers_by_custom_fields_commit', '1000000 1000000 1000'),
    ('addresses', 'addresses', '1000000 1000000 1'),
    ('addresses', 'addresses_by_subscriber', '1000000 1000000 2'),
    ('addresses', 'addresses_by_commit', '1000000 1000000 1000'),
    ('addresses', 'addresses_by_place', '1000000 1000000 500 2 1'),
    ('addresses', 'addresses_by_street', '1000000 1000000 5 1'),
    ('addresses', 'addresses_by_company', '100000 100000 5 1'),
    ('subscriptions', 'subscriptions', '1000000 1000000 1'),
    ('subscriptions', 'subscriptions_by_subscriber', '1000000 1000000 2'),
    ('subscriptions', 'subscriptions_by_merged_into', '1000 1000 1'),
    ('subscriptions', 'subscriptions_by_commit', '1000000 1000000 1000'),
    ('subscriptions', 'subscriptions_by_mailing_address', '1000000 1000000 2'),
    ('subscriptions', 'subscriptions_by_billing_address', '1000000 1000000 2'),
    ('subscriptions', 'subscriptions_by_kind', '1000000 1000000 100000 50000 20000 1000 500'),
    ('subscription_issues', 'subscription_issues', '10000000 10000000 10 1'),
    ('subscription_issues', 'subscription_issues_by_issue', '10000000 10000000 1000'),
    ('subscription_issues', 'subscription_issues_by_list', '10000000 10000000 1000'),
    ('subscription_issues', 'subscription_issues_by_term', '10000000 10000000 10'),
    ('custom_fields', 'custom_fields', '100 100 1'),
    ('custom_field_options', 'custom_field_options', '1000 1000 1'),
    ('custom_field_answers', 'custom_field_answers', '1000000 1000000 5 1'),
    ('orders', 'orders', '1000000 1000000 1'),
    ('classes', 'classes', '100 100 1'),
    ('bundles', 'bundles', '100 100 1'),
    ('bundle_lines', 'bundle_lines', '200 200 2 1'),
    ('products', 'products', '100 100 1'),
    ('orders', 'orders_by_external_reference', '1000000 1000000 1'),
    ('orders', 'orders_by_subscriber', '1000000 1000000 2'),
    ('orders', 'orders_in_dispute', '1000 1000 1'),
    ('orders', 'orders_by_commit', '1000000 1000000 1000'),
    ('orders', 'orders_by_mailing_address', '1000000 1000000 2'),
    ('orders', 'orders_by_billing_address', '1000000 1000000 2'),
    ('order_items', 'order_items', '1000000 1000000 1'),
    ('order_items', 'order_items_by_order', '1000000 1000000 2'),
    ('order_items', 'order_items_by_purchase', '1000000 1000000 1'),
    ('terms', 'terms', '2000000 2000000 1'),
    ('terms', 'terms_by_subscription', '2000000 2000000 2 1'),
    ('terms', 'terms_not_paid', '100000 100000 1 1'),
    ('terms', 'terms_by_order_item', '2000000 2000000 1'),
    ('revenue', 'revenue', '20000000 20000000 1'),
    ('revenue', 'revenue_by_term', '20000000 20000000 10'),
    ('revenue', 'revenue_by_issue', '20000000 20000000 1000'),
    ('revenue', 'revenue_by_day', '20000000 20000000 1000 1000 1000 1'),
    ('suspensions', 'suspensions', '100000 100000 1'),
    ('suspensions', 'suspensions_by_subscription', '100000 100000 2'),
    ('temporary_addresses', 'temporary_addresses', '100000 100000 1'),
    ('temporary_addresses', 'temporary_addresses_by_subscription', '100000 100000 2'),
    ('temporary_addresses', 'temporary_addresses_by_address', '100000 100000 1'),
    ('replacements', 'replacements', '100000 100000 1'),
    ('replacements', 'replacements_by_subscription', '100000 100000 2'),
    ('replacements', 'replacements_by_issue', '100000 100000 100'),
    ('replacements', 'replacements_by_file', '100000 100000 100'),
    ('notes', 'notes', '1000000 1000000 1'),
    ('notes', 'notes_by_subscriber', '1000000 1000000 3'),
    ('complaints', 'complaints', '100000 100000 1'),
    ('complaints', 'complaints_by_subscriber', '100000 100000 2'),
    ('complaints', 'complaints_by_subscription', '100000 100000 2'),
    ('complaints', 'complaints_by_issue', '100000 100000 500'),
    ('cancellation_reasons', 'cancellation_reasons', '100 100 1'),
    ('cancellations', 'cancellations', '100000 100000 1'),
    ('cancellations', 'cancellations_by_after_issue', '10000 10000 100'),
    ('cancellations', 'cancellations_by_ended_issue', '10000 10000 100'),
    ('cancellations', 'cancellations_by_final_issue', '100000 100000 1000'),
    ('cancellations', 'cancellations_to_come', '1000 1000 1'),
    ('cancelled_terms', 'cancelled_terms', '200000 200000 1'),
    ('renewal_efforts', 'renewal_efforts', '100 100 5 1'),
    ('renewal_efforts', 'renewal_efforts_by_bundle', '100 100 2'),
    ('renewals_sent', 'renewals_sent', '5000000 5000000 3 1'),
    ('renewals_sent', 'renewals_sent_by_subscription', '5000000 5000000 5'),
    ('billing', 'billing', '1 1 1'),
    ('billing_settings', 'billing_settings', '50 50 1'),
    ('billing_settings', 'billing_settings_by_name', '50 50 1'),
    ('tax_rates', 'tax_rates', '200 200 1'),
    ('shipping_prices', 'shipping_prices', '200 200 1'),
    ('payer_details', 'payer_details', '10000 10000 1'),
    ('invoices', 'invoices', '1000000 1000000 1'),
    ('invoices', 'invoices_by_number', '1000000 1000000 100000 1'),
    ('invoices', 'invoices_by_number_text', '1000000 1000000 1'),
    ('invoices', 'invoices_by_payment_reference', '1000000 1000000 1'),
    ('invoices', 'invoices_by_subscriber', '1000000 1000000 3'),
    ('invoices', 'invoices_by_order', '1000000 1000000 2'),
    ('invoices', 'invoices_by_of_invoice', '100000 100000 1'),
    ('invoices', 'invoices_open', '100000 100000 1 1'),
    ('invoices', 'invoices_due', '100000 100000 300 1 1'),
    ('invoice_lines', 'invoice_lines', '2000000 2000000 2 1'),
    ('invoice_lines', 'invoice_lines_by_order_item', '2000000 2000000 2'),
    ('payments', 'payments', '1000000 1000000 1'),
    ('payments', 'payments_by_source', '1000000 1000000 1'),
    ('payments', 'payments_by_subscriber', '1000000 1000000 3'),
    ('payments', 'payments_by_reversed', '10000 10000 1'),
    ('payments', 'payments_with_left', '10000 10000 1 1'),
    ('allocations', 'allocations', '1000000 1000000 1'),
    ('allocations', 'allocations_by_invoice', '1000000 1000000 1'),
    ('allocations', 'allocations_by_payment', '1000000 1000000 1'),
    ('allocations', 'allocations_by_credit_note', '100000 100000 1'),
    ('journal_lines', 'journal_lines', '5000000 5000000 3 1'),
    ('journal_lines', 'journal_lines_by_day', '5000000 5000000 2000 300 10'),
    ('journal_lines', 'journal_lines_by_invoice', '5000000 5000000 8'),
    ('journal_lines', 'journal_lines_by_payment', '5000000 5000000 3'),
    ('closed_months', 'closed_months', '100 100 1'),
    ('bank_files', 'bank_files', '1000 1000 1'),
    ('bank_entries', 'bank_entries', '1000000 1000000 1'),
    ('bank_entries', 'bank_entries_by_fingerprint', '1000000 1000000 1'),
    ('bank_entries', 'bank_entries_by_file', '1000000 1000000 1000'),
    ('bank_entries', 'bank_entries_by_subscriber', '1000000 1000000 3'),
    ('bank_entries', 'bank_entries_by_invoice', '1000000 1000000 1'),
    ('bank_entries', 'bank_entries_by_payment', '1000000 1000000 1'),
    ('bank_entries', 'bank_entries_to_decide', '1000 1000 1'),
    ('mandates', 'mandates', '1000000 1000000 1'),
    ('mandates', 'mandates_by_reference', '1000000 1000000 1'),
    ('mandates', 'mandates_by_subscriber', '1000000 1000000 1'),
    ('debit_runs', 'debit_runs', '1000 1000 1'),
    ('debit_runs', 'debit_runs_by_message', '1000 1000 1'),
    ('claims', 'claims', '1000000 1000000 1'),
    ('claims', 'claims_by_end_to_end_id', '1000000 1000000 1'),
    ('claims', 'claims_by_run', '1000000 1000000 1000'),
    ('claims', 'claims_by_invoice', '1000000 1000000 1'),
    ('claims', 'claims_by_mandate', '1000000 1000000 2'),
    ('claims', 'claims_by_subscriber', '1000000 1000000 2'),
    ('claims', 'claims_by_payment', '1000000 1000000 1'),
    ('claims', 'claims_with_the_bank', '100000 100000 1'),
    ('reminder_levels', 'reminder_levels', '9 9 1'),
    ('reminders', 'reminders', '1000000 1000000 1'),
    ('reminders', 'reminders_by_invoice', '1000000 1000000 2 1'),
    ('reminders', 'reminders_by_subscriber', '1000000 1000000 2'),
    ('reminders', 'reminders_by_fee_invoice', '1000000 1000000 1'),
    ('renewal_consents', 'renewal_consents', '1000000 1000000 1'),
    ('renewal_consents', 'renewal_consents_that_run', '1000000 1000000 1'),
    ('renewal_consents', 'renewal_consents_by_subscription', '1000000 1000000 1'),
    ('renewal_consents', 'renewal_consents_by_subscriber', '1000000 1000000 2'),
    ('renewal_consents', 'renewal_consents_by_bundle', '1000000 1000000 10000'),
    ('announced_renewals', 'announced_renewals', '1000000 1000000 1'),
    ('announced_renewals', 'announced_renewals_by_term', '1000000 1000000 2 1'),
    ('announced_renewals', 'announced_renewals_of_a_term', '1000000 1000000 1'),
    ('announced_renewals', 'announced_renewals_by_consent', '1000000 1000000 2'),
    ('announced_renewals', 'announced_renewals_by_bundle', '1000000 1000000 10000'),
    ('announced_renewals', 'announced_renewals_by_order', '1000000 1000000 1'),
    ('announced_renewals', 'announced_renewals_to_come', '10000 10000 1000 1'),
    ('mails', 'mails', '1000000 1000000 1'),
    ('mails', 'mails_by_status', '1000000 1000000 200000 10 1'),
    ('mails', 'mails_by_subscriber', '1000000 1000000 5'),
    ('mails', 'mails_by_invoice', '1000000 1000000 1'),
    ('mails', 'mails_by_reminder', '1000000 1000000 1'),
    ('mails', 'mails_by_subscription', '1000000 1000000 2'),
    ('mails', 'mails_by_message', '1000000 1000000 1'),
    ('held_addresses', 'held_addresses', '10000 10000 1'),
    ('held_addresses', 'held_addresses_by_address', '10000 10000 1'),
    ('held_addresses', 'held_addresses_by_subscriber', '10000 10000 1'),
    ('letters', 'letters', '1000000 1000000 1'),
    ('letters', 'letters_by_subscription', '1000000 1000000 2'),
    ('letters', 'letters_by_subscriber', '1000000 1000000 2'),
    ('page_settings', 'page_settings', '50 50 1'),
    ('page_settings', 'page_settings_by_name', '50 50 1'),
    ('reader_bundles', 'reader_bundles', '100 100 1'),
    ('reader_changes', 'reader_changes', '1000000 1000000 1'),
    ('reader_changes', 'reader_changes_by_subscriber', '1000000 1000000 5'),
    ('reader_changes', 'reader_changes_by_subscription', '1000000 1000000 5'),
    ('reader_consents', 'reader_consents', '1000000 1000000 1'),
    ('reader_consents', 'reader_consents_by_subscriber', '1000000 1000000 2'),
    ('reader_requests', 'reader_requests', '100000 100000 1'),
    ('reader_requests', 'reader_requests_by_subscriber', '100000 100000 2'),
    ('reader_requests', 'reader_requests_by_subscription', '100000 100000 2'),
    ('reader_requests', 'reader_requests_by_issue', '100000 100000 100'),
    ('reader_requests', 'reader_requests_to_answer', '1000 1000 1'),
    ('qualification_forms', 'qualification_forms', '10 10 1'),
    ('qualification_questions', 'qualification_questions', '100 100 10 1'),
    ('qualification_questions', 'qualification_questions_by_field', '100 100 2'),
    ('audit_classes', 'audit_classes', '100 100 1'),
    ('audit_classes', 'audit_classes_by_code', '100 100 10 1'),
    ('audit_class_conditions', 'audit_class_conditions', '200 200 2 1'),
    ('audit_class_conditions', 'audit_class_conditions_by_field', '200 200 10'),
    ('request_types', 'request_types', '10 10 1'),
    ('request_types', 'request_types_by_code', '10 10 1'),
    ('qualifications', 'qualifications', '3000000 3000000 1'),
    ('qualifications', 'qualifications_by_subscriber', '3000000 3000000 3'),
    ('qualifications', 'qualifications_by_subscription', '3000000 3000000 3'),
    ('qualifications', 'qualifications_by_reference', '1000000 1000000 100000 1'),
    ('qualified_subscriptions', 'qualified_subscriptions', '1000000 1000000 1'),
    ('qualified_subscriptions', 'qualified_subscriptions_by_end', '1000000 1000000 1000000 1000'),
    ('qualified_subscriptions', 'qualified_subscriptions_by_list', '100000 100000 1000'),
    ('audit_figures', 'audit_figures', '100000 100000 200 1'),
    ('requalification_efforts', 'requalification_efforts', '30 30 3 1'),
    ('requalifications_sent', 'requalifications_sent', '3000000 3000000 3 1'),
    ('purchases', 'purchases', '1000000 1000000 1'),
    ('purchases', 'purchases_by_subscriber', '1000000 1000000 2'),
    ('purchases', 'purchases_by_commit', '1000000 1000000 1000'),
    ('purchases', 'purchases_by_shipping_address', '1000000 1000000 2'),
    ('purchases', 'purchases_by_billing_address', '1000000 1000000 2'),
    ('list_downloads', 'list_downloads', '1000 1000 1'),
    ('list_downloads', 'list_downloads_by_commit', '1000 1000 10'),
    ('mailing_list_entries', 'mailing_list_entries', '10000000 10000000 10000 1'),
    ('mailing_list_entries', 'mailing_list_entries_by_subscription',
        '10000000 10000000 10 1'),
    ('deletions', 'deletions', '1000000 1000000 200000 1'),
    ('deletions', 'deletions_by_commit', '1000000 1000000 200000 1000'),
    ('erasures', 'erasures', '1000 1000 1'),
    ('natural_keys', 'natural_keys', '3000000 3000000 1000000 1');

-- [postgresql]
-- Staging: the rows of the loads that run now, each with its load, file and line, and with a mask
-- of the columns that its file has (present). Unlogged: after a crash the load is run again.
-- [staging]

-- The problems of the staged rows, in the order of their numbers.
CREATE UNLOGGED TABLE staged_problems (
    account_id INTEGER NOT NULL,
    load_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,
    "column" TEXT NOT NULL,
    sentence TEXT NOT NULL
);
CREATE INDEX staged_problems_by_row ON staged_problems (account_id, load_id, file, line);

-- Lists of keys that one step of a load finds and a later one uses. other, kind, text: what belongs
-- to a key of the list.
CREATE UNLOGGED TABLE staged_keys (
    account_id INTEGER NOT NULL,
    load_id INTEGER NOT NULL,
    list TEXT NOT NULL,
    key INTEGER NOT NULL,
    other INTEGER,
    kind TEXT,
    text TEXT
);
CREATE INDEX staged_keys_by_key ON staged_keys (account_id, load_id, list, key, other);

-- The new natural keys of a load. key_text: the key as a message shows it.
CREATE UNLOGGED TABLE staged_natural_keys (
    account_id INTEGER NOT NULL,
    load_id INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    key_digest TEXT NOT NULL,
    record_id INTEGER NOT NULL,
    key_text TEXT NOT NULL
);
CREATE INDEX staged_natural_keys_by_digest
    ON staged_natural_keys (account_id, load_id, table_name, key_digest);

-- Row-level security: a transaction sees the rows of the account that it has set. In one that has
-- set none, each query of these tables is an error, so a look-up can never be empty for that
-- reason. The owner of the tables sees all rows.
ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON accounts USING (
    account_id = current_setting('masthead.account_id')::BIGINT
    OR current_setting('masthead.is_master', TRUE) = 'on');
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'account_locks',
        'epochs',
        'login_failures',
        'login_successes',
        'credential_uses',
        'entitlement_keys',
        'operators',
        'saved_forms',
        'operator_sessions',
        'reader_sessions',
        'sign_in_links',
        'entitlement_codes',
        'request_counts',
        'commits',
        'books',
        'publications',
        'list_downloads',
        'issues',
        'subscribers',
        'addresses',
        'subscriptions',
        'subscription_kinds',
        'custom_fields',
        'custom_field_options',
        'custom_field_answers',
        'classes',
        'bundles',
        'bundle_lines',
        'products',
        'orders',
        'purchases',
        'order_items',
        'terms',
        'revenue',
        'subscription_issues',
        'suspensions',
        'temporary_addresses',
        'replacements',
        'notes',
        'complaints',
        'cancellation_reasons',
        'cancellations',
        'cancelled_terms',
        'renewal_efforts',
        'renewals_sent',
        'billing',
        'billing_settings',
        'tax_rates',
        'shipping_prices',
        'payer_details',
        'invoices',
        'invoice_lines',
        'payments',
        'allocations',
        'journal_lines',
        'closed_months',
        'bank_files',
        'bank_entries',
        'mandates',
        'debit_runs',
        'claims',
        'reminder_levels',
        'reminders',
        'renewal_consents',
        'announced_renewals',
        'mails',
        'held_addresses',
        'letters',
        'page_settings',
        'reader_bundles',
        'reader_changes',
        'reader_consents',
        'reader_requests',
        'qualification_forms',
        'qualification_questions',
        'audit_classes',
        'audit_class_conditions',
        'request_types',
        'qualifications',
        'qualified_subscriptions',
        'audit_figures',
        'requalification_efforts',
        'requalifications_sent',
        'mailing_list_entries',
        'deletions',
        'erasures'
    ]
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY own_account ON %I '
            'USING (account_id = current_setting(''masthead.account_id'')::BIGINT)', name);
    END LOOP;
END $$;
