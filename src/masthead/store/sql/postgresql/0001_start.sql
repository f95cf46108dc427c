-- Written by `make schema` from schema/start.sql: change that one.
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
    account_id BIGINT NOT NULL PRIMARY KEY,
    company_name TEXT COLLATE "C",
    email TEXT COLLATE "C",
    website TEXT COLLATE "C",
    active BIGINT NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    api_active BIGINT NOT NULL DEFAULT 1 CHECK (api_active IN (0, 1)),
    api_key TEXT COLLATE "C",
    api_login TEXT COLLATE "C",
    plan TEXT COLLATE "C",
    audit_type TEXT COLLATE "C",
    created TEXT COLLATE "C",
    master_checkout TEXT COLLATE "C",
    is_master BIGINT NOT NULL DEFAULT 0 CHECK (is_master IN (0, 1)),
    hide_password_md5 BIGINT NOT NULL DEFAULT 0 CHECK (hide_password_md5 IN (0, 1)),
    renewal_code_login BIGINT NOT NULL DEFAULT 1 CHECK (renewal_code_login IN (0, 1)),
    time_zone TEXT COLLATE "C" NOT NULL DEFAULT 'UTC',
    currency TEXT COLLATE "C" NOT NULL DEFAULT 'USD',
    keep_password_md5 BIGINT NOT NULL DEFAULT 0 CHECK (keep_password_md5 IN (0, 1))
);

-- Partners that have pairs of credentials of their own. operations: the names of those that the
-- partner may ask for, with spaces between them; NULL for all. rate: requests a second; NULL if
-- only the limit of the server counts.
CREATE TABLE partners (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    partner_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    name_lower TEXT COLLATE "C" NOT NULL,
    operations TEXT COLLATE "C",
    rate BIGINT CHECK (rate > 0),
    added_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, partner_id),
    UNIQUE (account_id, name_lower)
);

-- All pairs that open an account, as keyed hashes. ends_at: of a pair that was replaced. login_hash
-- is NULL if an account has no api_login: that opens nothing. partner_id: NULL for pairs of the
-- account itself.
CREATE TABLE credentials (
    key_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    login_hash TEXT COLLATE "C",
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    ends_at BIGINT,
    partner_id BIGINT,
    FOREIGN KEY (account_id, partner_id) REFERENCES partners (account_id, partner_id)
);
CREATE INDEX credentials_by_account ON credentials (account_id);

-- The keys that sign entitlements. public_key: a JWK. private_key, subject_key: sealed with the
-- secret key; subject_key makes the ids of readers in tokens. ends_at: when a replaced key will not
-- be published any more.
CREATE TABLE entitlement_keys (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    key_id TEXT COLLATE "C" NOT NULL,
    issuer TEXT COLLATE "C" NOT NULL,
    public_key TEXT COLLATE "C" NOT NULL,
    private_key TEXT COLLATE "C" NOT NULL,
    subject_key TEXT COLLATE "C" NOT NULL,
    made_at BIGINT NOT NULL,
    signs_from BIGINT NOT NULL,
    ends_at BIGINT,
    PRIMARY KEY (account_id, key_id)
);

-- The publisher's people who sign in to the console. password_hash is Argon2's. Sessions with
-- another sessions_from have ended.
CREATE TABLE operators (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    operator_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    name_lower TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL CHECK (role IN ('clerk', 'manager', 'finance', 'viewer')),
    password_hash TEXT COLLATE "C" NOT NULL,
    sessions_from BIGINT NOT NULL,
    PRIMARY KEY (account_id, operator_id)
);
CREATE UNIQUE INDEX operators_by_name ON operators (account_id, name_lower);

-- The forms of the console that were saved on the last day. form: a digest of the form with its
-- one-time value. path: the page to which saving led.
CREATE TABLE saved_forms (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    form TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    saved_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, form)
);
CREATE INDEX saved_forms_by_time ON saved_forms (account_id, saved_at);

-- The fingerprint of the right secret key. On PostgreSQL its row is the lock of accounts and
-- credentials.
CREATE TABLE secret_key (fingerprint TEXT COLLATE "C" NOT NULL PRIMARY KEY);

-- When a server last wrote to this database: by it a reader of a replica knows how far the replica
-- is behind.
CREATE TABLE heartbeat (
    is_only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (is_only_row),
    beat_at BIGINT NOT NULL
);
INSERT INTO heartbeat (beat_at) VALUES (0);

-- Who did what with the commands. account_id: 0 if it was no single account. It names accounts
-- without referring to them: an entry outlives its account.
CREATE TABLE audit (
    account_id BIGINT NOT NULL,
    entry_id BIGINT GENERATED BY DEFAULT AS IDENTITY,
    at BIGINT NOT NULL,
    user_name TEXT COLLATE "C" NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    summary TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, entry_id)
);

-- The last loads of each account. files, counts: JSON. outcome: 'good' or 'refused'; NULL while it
-- runs, and of one that was killed. marker_at: the time of the marker file that it waited for.
CREATE TABLE loads (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    load_id BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    user_name TEXT COLLATE "C" NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    files TEXT COLLATE "C" NOT NULL,
    marker_at BIGINT,
    outcome TEXT COLLATE "C",
    counts TEXT COLLATE "C",
    rejected BIGINT NOT NULL DEFAULT 0,
    reason TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, load_id)
);

-- The rows that writers lock. kind: 'data', 'stamps' for those who stamp commits, or 'load' for a
-- load from its first file on, so that a second one can say so.
CREATE TABLE account_locks (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    kind TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, kind)
);

-- The numbers of accounts that were removed, each with its newest stamp: an account that gets the
-- number again begins an epoch after it, whatever clients know of the former one.
CREATE TABLE removed_accounts (
    account_id BIGINT NOT NULL PRIMARY KEY,
    newest_stamp BIGINT NOT NULL
);

-- What a client of the change feed learned before epoch_at may be of a history that the database no
-- longer has: the client must start again. history, on PostgreSQL: that of the server with the
-- account's data when it was last looked at; another one means that a backup was restored or a
-- replica promoted.
CREATE TABLE epochs (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES accounts (account_id),
    epoch_at BIGINT,
    history TEXT COLLATE "C"
);

-- The servers of a distributed database, each as "system identifier/database oid": an account that
-- is moved from one to another has lost nothing.
CREATE TABLE nodes (node TEXT COLLATE "C" NOT NULL PRIMARY KEY);

-- Failed logins. login, guess: keyed hashes. kind: what of an account is counted together.
CREATE TABLE login_failures (
    account_id BIGINT NOT NULL,
    login TEXT COLLATE "C" NOT NULL,
    guess TEXT COLLATE "C" NOT NULL,
    failed_at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, guess)
);
CREATE INDEX login_failures_by_login ON login_failures (account_id, login, failed_at);
CREATE INDEX login_failures_by_time ON login_failures (account_id, failed_at, kind);

-- Emails with which readers have logged in, by keyed hash, and when last.
CREATE TABLE login_successes (
    account_id BIGINT NOT NULL,
    login TEXT COLLATE "C" NOT NULL,
    succeeded_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, login)
);
CREATE INDEX login_successes_by_time ON login_successes (account_id, succeeded_at);

-- When each pair was last used.
CREATE TABLE credential_uses (
    account_id BIGINT NOT NULL,
    key_hash TEXT COLLATE "C" NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key_hash)
);

-- What partners asked, by day (in UTC), partner and operation. partner: the name, '' for the
-- account's own credentials. server_errors: those of the errors whose status is 500 or more.
CREATE TABLE request_counts (
    account_id BIGINT NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    partner TEXT COLLATE "C" NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL,
    errors BIGINT NOT NULL,
    server_errors BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, day, partner, operation)
);

-- Who is signed in to the console. token_hash: SHA-256 of the token that the browser has.
CREATE TABLE operator_sessions (
    account_id BIGINT NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    operator_id BIGINT NOT NULL,
    sessions_from BIGINT NOT NULL,
    begun_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);

-- Who is signed in to the readers' pages. token_hash: SHA-256 of the token that the browser has.
-- login_mark: a keyed hash of what the reader signs in with; another one ends the session.
CREATE TABLE reader_sessions (
    account_id BIGINT NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    subscriber_id BIGINT NOT NULL,
    login_mark TEXT COLLATE "C" NOT NULL,
    begun_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX reader_sessions_by_subscriber ON reader_sessions (account_id, subscriber_id);
CREATE INDEX reader_sessions_by_time ON reader_sessions (account_id, used_at);

-- The links that were sent to readers. browser_hash: SHA-256 of the token of the asking browser.
CREATE TABLE sign_in_links (
    account_id BIGINT NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    browser_hash TEXT COLLATE "C" NOT NULL,
    subscriber_id BIGINT NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('sign_in', 'password')),
    made_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (account_id, token_hash)
);
CREATE INDEX sign_in_links_by_subscriber ON sign_in_links (account_id, subscriber_id);
CREATE INDEX sign_in_links_by_time ON sign_in_links (account_id, made_at);

-- One-time codes of readers for the sites of partners. code_hash: a keyed hash.
CREATE TABLE entitlement_codes (
    account_id BIGINT NOT NULL,
    code_hash TEXT COLLATE "C" NOT NULL,
    subscriber_id BIGINT NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, code_hash)
);
CREATE INDEX entitlement_codes_by_subscriber
    ON entitlement_codes (account_id, subscriber_id, made_at);
CREATE INDEX entitlement_codes_by_time ON entitlement_codes (account_id, made_at);

-- visible_at: NULL until the commit is stamped.
CREATE TABLE commits (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    commit_id BIGINT NOT NULL,
    visible_at BIGINT,
    PRIMARY KEY (account_id, commit_id)
);
CREATE UNIQUE INDEX commits_by_visible_at ON commits (account_id, visible_at);
CREATE INDEX commits_without_stamp ON commits (account_id) WHERE visible_at IS NULL;

-- An account that has the row keeps its books here (mode `here`): operations change its data, and
-- files no longer do. opened_at, like all times of the books: YYYY-MM-DD hh:mm:ss in the
-- time zone of the account.
-- last_order_before: the newest order of before the opening; this and older ones are history.
CREATE TABLE books (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    books_id BIGINT NOT NULL CHECK (books_id = 1),
    opened_on TEXT COLLATE "C" NOT NULL,
    opened_at TEXT COLLATE "C",
    last_order_before BIGINT,
    PRIMARY KEY (account_id, books_id)
);

-- given_here: 1 if an operation of the books gave the id, 0 if a file brought it.
CREATE TABLE publications (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    publication_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    issues_per_year BIGINT NOT NULL DEFAULT 12,
    late_start TEXT COLLATE "C" NOT NULL DEFAULT 'next' CHECK (late_start IN ('next', 'current')),
    grace_counts BIGINT NOT NULL DEFAULT 0,
    credit_issues BIGINT NOT NULL DEFAULT 1,
    unlimited_term_months BIGINT NOT NULL DEFAULT 12,
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, publication_id)
);

CREATE TABLE list_downloads (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    mailing_list_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    status TEXT COLLATE "C",
    count BIGINT,
    is_gap BIGINT NOT NULL DEFAULT 0,
    grace_from_date TEXT COLLATE "C",
    grace_issues BIGINT,
    parent_mailing_list_id BIGINT,
    date_created TEXT COLLATE "C",
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, mailing_list_id),
    FOREIGN KEY (account_id, parent_mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX list_downloads_by_commit ON list_downloads (account_id, commit_id, mailing_list_id);

-- closed_at: NULL until the issue is closed. mailing_list_id: its main list.
CREATE TABLE issues (
    account_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    date TEXT COLLATE "C",
    number BIGINT,
    closes_on TEXT COLLATE "C",
    mailed_on TEXT COLLATE "C",
    closed_at TEXT COLLATE "C",
    mailing_list_id BIGINT,
    file_written_at TEXT COLLATE "C",
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, issue_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id)
);

-- first_name_folded, last_name_folded: Unicode case folding, as Python has it. *_plain,
-- last_name_end: other forms of names that have some (masthead.store.name_forms). What is compared
-- without regard to ASCII letter case has a column of its own: under PostgreSQL's policies no index
-- on an expression is used, because lower() is not known to keep what it reads to itself.
-- password_hash_loaded: the SHA-256 of the digest that was loaded, by which the same digest in the
-- next file is known after a better one has replaced it (masthead.store.passwords).
-- removed_at: the delete_date that a removal set, by which one is known that no file has.
-- merged_into: of one who was merged, the subscriber who is kept; that one was never merged.
CREATE TABLE subscribers (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    subscriber_id BIGINT NOT NULL,
    renewal_code TEXT COLLATE "C",
    email TEXT COLLATE "C",
    password_md5 TEXT COLLATE "C",
    password_hash TEXT COLLATE "C",
    first_name TEXT COLLATE "C",
    last_name TEXT COLLATE "C",
    source TEXT COLLATE "C",
    delete_date TEXT COLLATE "C",
    merged_into BIGINT,
    first_name_folded TEXT COLLATE "C",
    last_name_folded TEXT COLLATE "C",
    first_name_plain TEXT COLLATE "C",
    last_name_plain TEXT COLLATE "C",
    last_name_end TEXT COLLATE "C",
    password_hash_loaded TEXT COLLATE "C",
    removed_at TEXT COLLATE "C",
    renewal_code_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(renewal_code)) STORED,
    email_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(email)) STORED,
    source_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(source)) STORED,
    commit_id BIGINT NOT NULL,
    custom_fields_commit_id BIGINT NOT NULL,
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, merged_into)
        REFERENCES subscribers (account_id, subscriber_id) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX subscribers_by_renewal_code ON subscribers (account_id, renewal_code_lower);
CREATE INDEX subscribers_by_email ON subscribers (account_id, email_lower);
CREATE INDEX subscribers_by_source ON subscribers (account_id, source_lower, subscriber_id);
CREATE INDEX subscribers_by_first_name
    ON subscribers (account_id, first_name_folded, subscriber_id);
CREATE INDEX subscribers_by_last_name ON subscribers (account_id, last_name_folded, subscriber_id);
CREATE INDEX subscribers_by_name
    ON subscribers (account_id, last_name_folded, first_name_folded, subscriber_id);
CREATE INDEX subscribers_by_first_name_plain
    ON subscribers (account_id, first_name_plain, subscriber_id)
    WHERE first_name_plain IS NOT NULL;
CREATE INDEX subscribers_by_last_name_plain
    ON subscribers (account_id, last_name_plain, subscriber_id)
    WHERE last_name_plain IS NOT NULL;
CREATE INDEX subscribers_by_last_name_end
    ON subscribers (account_id, last_name_end, subscriber_id)
    WHERE last_name_end IS NOT NULL;
CREATE INDEX subscribers_by_delete_date
    ON subscribers (account_id, delete_date) WHERE delete_date IS NOT NULL;
CREATE INDEX subscribers_by_merged_into
    ON subscribers (account_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX subscribers_by_commit ON subscribers (account_id, commit_id, subscriber_id);
CREATE INDEX subscribers_by_custom_fields_commit
    ON subscribers (account_id, custom_fields_commit_id, subscriber_id);

CREATE TABLE addresses (
    account_id BIGINT NOT NULL,
    address_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    first_name TEXT COLLATE "C",
    last_name TEXT COLLATE "C",
    company TEXT COLLATE "C",
    address TEXT COLLATE "C",
    city TEXT COLLATE "C",
    state TEXT COLLATE "C",
    zip_code TEXT COLLATE "C",
    country_name TEXT COLLATE "C",
    country_abbreviation TEXT COLLATE "C",
    latitude TEXT COLLATE "C",
    longitude TEXT COLLATE "C",
    verified BIGINT NOT NULL DEFAULT 0,
    commit_id BIGINT NOT NULL,
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, address_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE INDEX addresses_by_subscriber ON addresses (account_id, subscriber_id);
CREATE INDEX addresses_by_commit ON addresses (account_id, commit_id, address_id);
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
    account_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    mailing_address_id BIGINT,
    billing_address_id BIGINT,
    issues BIGINT,
    copies BIGINT,
    paid_issues_left BIGINT,
    unearned_revenue TEXT COLLATE "C",
    type TEXT COLLATE "C",
    date_created TEXT COLLATE "C",
    date_expired TEXT COLLATE "C",
    date_last_renewed TEXT COLLATE "C",
    last_purchase_bundle_id BIGINT,
    last_purchase_id BIGINT,
    renew_campaign_active BIGINT NOT NULL DEFAULT 0,
    audit_classification TEXT COLLATE "C",
    audit_request_type TEXT COLLATE "C",
    begins_on TEXT COLLATE "C",
    cancelled_on TEXT COLLATE "C",
    merged_into BIGINT,
    kind TEXT COLLATE "C" GENERATED ALWAYS AS (
        CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
        || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
        || '|' || CAST(renew_campaign_active AS TEXT)) STORED,
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, merged_into)
        REFERENCES subscriptions (account_id, subscription_id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX subscriptions_by_subscriber ON subscriptions (account_id, subscriber_id);
CREATE INDEX subscriptions_by_merged_into
    ON subscriptions (account_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX subscriptions_by_commit ON subscriptions (account_id, commit_id, subscription_id);
-- By these, rows are found that refer to an address which is to be removed.
CREATE INDEX subscriptions_by_mailing_address
    ON subscriptions (account_id, mailing_address_id) WHERE mailing_address_id IS NOT NULL;
CREATE INDEX subscriptions_by_billing_address
    ON subscriptions (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;
CREATE INDEX subscriptions_by_kind ON subscriptions (account_id, kind, subscription_id);

-- The kinds that an account's subscriptions have, or had: each combination of the values by which
-- operation 7 filters, once. A filter that no kind matches selects nothing, and no subscription is
-- read.
CREATE TABLE subscription_kinds (
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    type TEXT COLLATE "C",
    copies BIGINT,
    issues BIGINT,
    kind TEXT COLLATE "C" GENERATED ALWAYS AS (
        CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
        || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
        || '|' || CAST(renew_campaign_active AS TEXT)) STORED,
    renew_campaign_active BIGINT NOT NULL
);
CREATE INDEX subscription_kinds_by_account ON subscription_kinds (
    account_id, publication_id, type, copies, issues, renew_campaign_active);

CREATE TABLE custom_fields (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    field_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    display_as TEXT COLLATE "C",
    type TEXT COLLATE "C" NOT NULL,
    allow_other BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, field_id)
);

CREATE TABLE custom_field_options (
    account_id BIGINT NOT NULL,
    option_id BIGINT NOT NULL,
    field_id BIGINT NOT NULL,
    value TEXT COLLATE "C",
    display_as TEXT COLLATE "C",
    disqualifier BIGINT NOT NULL DEFAULT 0,
    active BIGINT NOT NULL DEFAULT 0,
    "order" BIGINT,
    PRIMARY KEY (account_id, option_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
);

-- option_ids: in ascending order, separated by '|'.
CREATE TABLE custom_field_answers (
    account_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    field_id BIGINT NOT NULL,
    option_ids TEXT COLLATE "C",
    text_value TEXT COLLATE "C",
    answered_on TEXT COLLATE "C",
    PRIMARY KEY (account_id, subscriber_id, field_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
);

-- The classes of copies that are the publisher's own, beside those that everybody has.
CREATE TABLE classes (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    class_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    PRIMARY KEY (account_id, class_id)
);

-- Amounts of the books are whole cents. issues: -1 is unlimited. digital_share: the part of the
-- price of a line that is for the digital issues, in hundredths of a percent; NULL is none.
CREATE TABLE bundles (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    bundle_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    active BIGINT NOT NULL DEFAULT 1,
    price BIGINT NOT NULL DEFAULT 0,
    tax BIGINT NOT NULL DEFAULT 0,
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, bundle_id)
);

CREATE TABLE bundle_lines (
    account_id BIGINT NOT NULL,
    bundle_id BIGINT NOT NULL,
    line_number BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    issues BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    copies BIGINT NOT NULL DEFAULT 1,
    price BIGINT NOT NULL DEFAULT 0,
    months BIGINT,
    digital_share BIGINT,
    PRIMARY KEY (account_id, bundle_id, line_number),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id)
);

CREATE TABLE products (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    product_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    active BIGINT NOT NULL DEFAULT 1,
    price BIGINT NOT NULL DEFAULT 0,
    tax BIGINT NOT NULL DEFAULT 0,
    given_here BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (account_id, product_id)
);

-- external_reference: its number in a shop, once in an account. content_digest: SHA-256 of what was
-- ordered, by which an order that comes again is known. payment_reference: such as the number of a
-- transfer. dispute: what the reader or the bank says; it is open while dispute_ended_on is NULL.
-- shipping: cents that grand_total includes; tax_total includes shipping_tax.
CREATE TABLE orders (
    account_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    mailing_address_id BIGINT,
    billing_address_id BIGINT,
    import_name TEXT COLLATE "C",
    user_id BIGINT,
    channel_id BIGINT,
    order_date TEXT COLLATE "C",
    is_gift BIGINT NOT NULL DEFAULT 0,
    sub_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    tax_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    grand_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    external_reference TEXT COLLATE "C",
    content_digest TEXT COLLATE "C",
    paid_on TEXT COLLATE "C",
    payment_type TEXT COLLATE "C",
    payment_reference TEXT COLLATE "C",
    disputed_on TEXT COLLATE "C",
    dispute TEXT COLLATE "C",
    dispute_ended_on TEXT COLLATE "C",
    dispute_result TEXT COLLATE "C",
    shipping BIGINT NOT NULL DEFAULT 0,
    shipping_tax BIGINT NOT NULL DEFAULT 0,
    external_reference_lower TEXT COLLATE "C"
        GENERATED ALWAYS AS (lower(external_reference)) STORED,
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, order_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
);
CREATE UNIQUE INDEX orders_by_external_reference
    ON orders (account_id, external_reference_lower) WHERE external_reference_lower IS NOT NULL;
CREATE INDEX orders_by_subscriber ON orders (account_id, subscriber_id, order_id);
CREATE INDEX orders_in_dispute ON orders (account_id, order_id)
    WHERE disputed_on IS NOT NULL AND dispute_ended_on IS NULL;
CREATE INDEX orders_by_commit ON orders (account_id, commit_id, order_id);
CREATE INDEX orders_by_mailing_address
    ON orders (account_id, mailing_address_id) WHERE mailing_address_id IS NOT NULL;
CREATE INDEX orders_by_billing_address
    ON orders (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;

CREATE TABLE purchases (
    account_id BIGINT NOT NULL,
    purchase_id BIGINT NOT NULL,
    payment_type TEXT COLLATE "C",
    notes TEXT COLLATE "C",
    subscriber_id BIGINT NOT NULL,
    bundle_id BIGINT,
    shipping_address_id BIGINT,
    billing_address_id BIGINT,
    name TEXT COLLATE "C",
    invoice_id TEXT COLLATE "C",
    total TEXT COLLATE "C",
    product_total TEXT COLLATE "C",
    is_gift BIGINT NOT NULL DEFAULT 0,
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, purchase_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, shipping_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
);
CREATE INDEX purchases_by_subscriber ON purchases (account_id, subscriber_id);
CREATE INDEX purchases_by_commit ON purchases (account_id, commit_id, purchase_id);
CREATE INDEX purchases_by_shipping_address
    ON purchases (account_id, shipping_address_id) WHERE shipping_address_id IS NOT NULL;
CREATE INDEX purchases_by_billing_address
    ON purchases (account_id, billing_address_id) WHERE billing_address_id IS NOT NULL;

-- is_dropped: a product that ended before its order was paid, so that nothing came for it.
-- copies: how many were ordered. list_price: the cents with tax that one cost in the catalogue, if
-- the order had another price.
CREATE TABLE order_items (
    account_id BIGINT NOT NULL,
    order_item_id BIGINT NOT NULL,
    order_id BIGINT NOT NULL,
    bundle_id BIGINT,
    product_id BIGINT,
    refund_date TEXT COLLATE "C",
    fulfilled_date TEXT COLLATE "C",
    sub_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    tax_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    grand_total TEXT COLLATE "C" NOT NULL DEFAULT '0',
    purchase_id BIGINT,
    refunded BIGINT NOT NULL DEFAULT 0,
    is_dropped BIGINT NOT NULL DEFAULT 0,
    copies BIGINT NOT NULL DEFAULT 1,
    list_price BIGINT,
    PRIMARY KEY (account_id, order_item_id),
    CHECK ((bundle_id IS NULL) <> (product_id IS NULL)),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id),
    FOREIGN KEY (account_id, purchase_id) REFERENCES purchases (account_id, purchase_id)
);
CREATE INDEX order_items_by_order ON order_items (account_id, order_id, order_item_id);
CREATE INDEX order_items_by_purchase
    ON order_items (account_id, purchase_id) WHERE purchase_id IS NOT NULL;

-- issues: -1 is unlimited, for so many months from starts_on. ended_at: when it was refunded or
-- cancelled; moved_after: the newest list when its subscription came to another subscriber.
-- free_copies come beside the copies, in a class of their own. allowed: the cents that an allowance
-- has given back. What the first spread_after issues did not earn, which is spread_earned, is
-- spread over spread_parts: the issues times the copies that were left then; NULL is those of the
-- whole term.
CREATE TABLE terms (
    account_id BIGINT NOT NULL,
    term_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    order_item_id BIGINT,
    issues BIGINT NOT NULL,
    issues_left BIGINT NOT NULL,
    copies BIGINT NOT NULL DEFAULT 1,
    price BIGINT NOT NULL DEFAULT 0,
    paid_on TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    class TEXT COLLATE "C" NOT NULL DEFAULT 'paid',
    months BIGINT,
    starts_on TEXT COLLATE "C",
    ended_at TEXT COLLATE "C",
    moved_after BIGINT,
    free_copies BIGINT NOT NULL DEFAULT 0,
    free_class TEXT COLLATE "C",
    allowed BIGINT NOT NULL DEFAULT 0,
    spread_after BIGINT NOT NULL DEFAULT 0,
    spread_earned BIGINT NOT NULL DEFAULT 0,
    spread_parts BIGINT,
    PRIMARY KEY (account_id, term_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, order_item_id) REFERENCES order_items (account_id, order_item_id)
);
CREATE INDEX terms_by_subscription ON terms (account_id, subscription_id, term_id);
CREATE INDEX terms_not_paid ON terms (account_id, subscription_id, term_id)
    WHERE price > 0 AND paid_on IS NULL AND issues_left <> 0;
CREATE INDEX terms_by_order_item
    ON terms (account_id, order_item_id) WHERE order_item_id IS NOT NULL;

-- Rows are only ever added. For each term, received = earned + refunded + what is unearned.
CREATE TABLE revenue (
    account_id BIGINT NOT NULL,
    revenue_id BIGINT NOT NULL,
    term_id BIGINT NOT NULL,
    issue_id BIGINT,
    kind TEXT COLLATE "C" NOT NULL,
    cents BIGINT NOT NULL,
    booked_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, revenue_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);
CREATE INDEX revenue_by_term ON revenue (account_id, term_id);
CREATE INDEX revenue_by_issue
    ON revenue (account_id, issue_id) WHERE issue_id IS NOT NULL;
-- It has all that the liability report reads of an issue's revenue.
CREATE INDEX revenue_by_day ON revenue (account_id, booked_on, issue_id, kind, cents);

-- What was delivered: by which list, out of which term (NULL: grace that no term has paid for yet),
-- to which address. That one is no reference: it says what was, also of an address that is gone.
CREATE TABLE subscription_issues (
    account_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    mailing_list_id BIGINT,
    term_id BIGINT,
    is_grace BIGINT NOT NULL DEFAULT 0,
    address_id BIGINT,
    PRIMARY KEY (account_id, subscription_id, issue_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id)
);
CREATE INDEX subscription_issues_by_issue ON subscription_issues (account_id, issue_id);
CREATE INDEX subscription_issues_by_list
    ON subscription_issues (account_id, mailing_list_id) WHERE mailing_list_id IS NOT NULL;
CREATE INDEX subscription_issues_by_term
    ON subscription_issues (account_id, term_id) WHERE term_id IS NOT NULL;

-- to_date, here and below: the last day; NULL while the suspension is open.
CREATE TABLE suspensions (
    account_id BIGINT NOT NULL,
    suspension_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    from_date TEXT COLLATE "C" NOT NULL,
    to_date TEXT COLLATE "C",
    PRIMARY KEY (account_id, suspension_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);
CREATE INDEX suspensions_by_subscription ON suspensions (account_id, subscription_id);

CREATE TABLE temporary_addresses (
    account_id BIGINT NOT NULL,
    temporary_address_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    address_id BIGINT NOT NULL,
    from_date TEXT COLLATE "C" NOT NULL,
    to_date TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, temporary_address_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, address_id) REFERENCES addresses (account_id, address_id)
);
CREATE INDEX temporary_addresses_by_subscription
    ON temporary_addresses (account_id, subscription_id);
CREATE INDEX temporary_addresses_by_address ON temporary_addresses (account_id, address_id);

-- Copies of delivered issues that are sent again. written_at: when a file had it; NULL before that.
CREATE TABLE replacements (
    account_id BIGINT NOT NULL,
    replacement_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    copies BIGINT NOT NULL DEFAULT 1,
    asked_on TEXT COLLATE "C" NOT NULL,
    written_at TEXT COLLATE "C",
    PRIMARY KEY (account_id, replacement_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);
CREATE INDEX replacements_by_subscription ON replacements (account_id, subscription_id);
CREATE INDEX replacements_by_issue ON replacements (account_id, issue_id);
CREATE INDEX replacements_by_file ON replacements (account_id, written_at);

-- What operators wrote about subscribers. The text is null once the subscriber is erased.
CREATE TABLE notes (
    account_id BIGINT NOT NULL,
    note_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    noted_at TEXT COLLATE "C",
    author TEXT COLLATE "C",
    text TEXT COLLATE "C",
    PRIMARY KEY (account_id, note_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE INDEX notes_by_subscriber ON notes (account_id, subscriber_id, note_id);

-- kind is lost, damaged, late or other; answer is extended, sent_again or nothing.
CREATE TABLE complaints (
    account_id BIGINT NOT NULL,
    complaint_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    made_at TEXT COLLATE "C",
    author TEXT COLLATE "C",
    text TEXT COLLATE "C",
    PRIMARY KEY (account_id, complaint_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);
CREATE INDEX complaints_by_subscriber ON complaints (account_id, subscriber_id, complaint_id);
CREATE INDEX complaints_by_subscription ON complaints (account_id, subscription_id);
CREATE INDEX complaints_by_issue ON complaints (account_id, issue_id);

-- Why subscriptions are cancelled, in the publisher's words.
CREATE TABLE cancellation_reasons (
    account_id BIGINT NOT NULL,
    reason_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    PRIMARY KEY (account_id, reason_id)
);

-- How a subscription was cancelled: at once; with the closing of after_issue_id; or at_end, when
-- its issues are used up. campaign is renew_campaign_active before. ended_on is null until it has
-- ended: by the closing of ended_issue_id, or at once. Nothing is booked of it after revenue_id.
-- final_issue_id is the first issue that was closed since: it cannot be undone any more.
CREATE TABLE cancellations (
    account_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    reason TEXT COLLATE "C",
    made_on TEXT COLLATE "C" NOT NULL,
    after_issue_id BIGINT,
    at_end BIGINT NOT NULL DEFAULT 0,
    is_refund BIGINT NOT NULL DEFAULT 0,
    campaign BIGINT NOT NULL DEFAULT 0,
    ended_on TEXT COLLATE "C",
    ended_issue_id BIGINT,
    revenue_id BIGINT,
    final_issue_id BIGINT,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, after_issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, ended_issue_id) REFERENCES issues (account_id, issue_id),
    FOREIGN KEY (account_id, final_issue_id) REFERENCES issues (account_id, issue_id)
);
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
    account_id BIGINT NOT NULL,
    term_id BIGINT NOT NULL,
    issues_left BIGINT NOT NULL,
    earned BIGINT NOT NULL DEFAULT 0,
    refunded BIGINT NOT NULL DEFAULT 0,
    tax BIGINT NOT NULL DEFAULT 0,
    refund_date TEXT COLLATE "C",
    PRIMARY KEY (account_id, term_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id)
);

-- An effort is due at so many issues left; 0 and below: so many issues after the last one. Its
-- letter names a bundle.
CREATE TABLE renewal_efforts (
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    effort BIGINT NOT NULL,
    issues_left BIGINT NOT NULL,
    bundle_id BIGINT,
    key_code TEXT COLLATE "C",
    PRIMARY KEY (account_id, publication_id, effort),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
);
CREATE INDEX renewal_efforts_by_bundle
    ON renewal_efforts (account_id, bundle_id) WHERE bundle_id IS NOT NULL;

CREATE TABLE renewals_sent (
    account_id BIGINT NOT NULL,
    term_id BIGINT NOT NULL,
    effort BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    sent_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, term_id, effort),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);
CREATE INDEX renewals_sent_by_subscription ON renewals_sent (account_id, subscription_id);

-- qualification_id: by which the copies go out. It is no reference: qualifications are only added.
CREATE TABLE mailing_list_entries (
    account_id BIGINT NOT NULL,
    mailing_list_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    copies BIGINT,
    is_grace BIGINT NOT NULL DEFAULT 0,
    is_paid BIGINT NOT NULL DEFAULT 0,
    type TEXT COLLATE "C",
    class TEXT COLLATE "C",
    free_copies BIGINT NOT NULL DEFAULT 0,
    free_class TEXT COLLATE "C",
    qualification_id BIGINT,
    PRIMARY KEY (account_id, mailing_list_id, subscription_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);
CREATE INDEX mailing_list_entries_by_subscription
    ON mailing_list_entries (account_id, subscription_id, mailing_list_id);

-- Billing: an account with the row makes an invoice of each order with a price. Amounts are whole
-- cents, percentages hundredths of a percent.
CREATE TABLE billing (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    billing_id BIGINT NOT NULL CHECK (billing_id = 1),
    begun_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, billing_id)
);

-- Only the settings that were set; the others have their defaults.
CREATE TABLE billing_settings (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    setting_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C",
    PRIMARY KEY (account_id, setting_id)
);
CREATE UNIQUE INDEX billing_settings_by_name ON billing_settings (account_id, name);

-- country: its code of ISO 3166 with two letters. state: NULL is all states that have no rate.
CREATE TABLE tax_rates (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    rate_id BIGINT NOT NULL,
    country TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C",
    goods TEXT COLLATE "C" NOT NULL CHECK (goods IN ('print', 'digital', 'product', 'shipping')),
    percent BIGINT NOT NULL,
    begins_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, rate_id)
);

-- The price of one ordered copy of a bundle's line of the type. country: NULL is all that have no
-- price.
CREATE TABLE shipping_prices (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    shipping_price_id BIGINT NOT NULL,
    country TEXT COLLATE "C",
    type TEXT COLLATE "C" NOT NULL CHECK (type IN ('Print', 'Digital', 'Both')),
    cents BIGINT NOT NULL DEFAULT 0,
    begins_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, shipping_price_id)
);

CREATE TABLE payer_details (
    account_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    vat_id TEXT COLLATE "C",
    by_email BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);

-- Rows are only ever added. The numbers of a series have no gaps. number_text: the number as it is
-- printed. open_cents: what is not settled. printed: all that is printed, as JSON; NULL once the
-- payer is erased.
CREATE TABLE invoices (
    account_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('invoice', 'receipt', 'credit_note')),
    series TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    number_text TEXT COLLATE "C" NOT NULL,
    subscriber_id BIGINT NOT NULL,
    order_id BIGINT,
    of_invoice_id BIGINT,
    issued_on TEXT COLLATE "C" NOT NULL,
    due_on TEXT COLLATE "C",
    net BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    total BIGINT NOT NULL,
    open_cents BIGINT NOT NULL,
    payment_reference TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    printed TEXT COLLATE "C",
    PRIMARY KEY (account_id, invoice_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id),
    FOREIGN KEY (account_id, of_invoice_id)
        REFERENCES invoices (account_id, invoice_id) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX invoices_by_number ON invoices (account_id, series, number);
CREATE INDEX invoices_by_number_text ON invoices (account_id, number_text);
CREATE INDEX invoices_by_payment_reference
    ON invoices (account_id, payment_reference) WHERE payment_reference IS NOT NULL;
CREATE INDEX invoices_by_subscriber ON invoices (account_id, subscriber_id, invoice_id);
CREATE INDEX invoices_by_order ON invoices (account_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX invoices_by_of_invoice
    ON invoices (account_id, of_invoice_id) WHERE of_invoice_id IS NOT NULL;
CREATE INDEX invoices_open
    ON invoices (account_id, subscriber_id, invoice_id) WHERE open_cents > 0;
-- It holds all that sums of open invoices need: invoices are long rows. Those without a due day
-- come first.
CREATE INDEX invoices_due
    ON invoices (account_id, due_on NULLS FIRST, invoice_id, open_cents)
    WHERE open_cents > 0;

-- category: S, Z, E or AE, as EN 16931 has them.
CREATE TABLE invoice_lines (
    account_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    line_number BIGINT NOT NULL,
    order_item_id BIGINT,
    goods TEXT COLLATE "C" NOT NULL
        CHECK (goods IN ('print', 'digital', 'product', 'shipping', 'fee')),
    description TEXT COLLATE "C",
    copies BIGINT NOT NULL DEFAULT 1,
    net BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    percent BIGINT NOT NULL,
    category TEXT COLLATE "C" NOT NULL CHECK (category IN ('S', 'Z', 'E', 'AE')),
    PRIMARY KEY (account_id, invoice_id, line_number),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, order_item_id) REFERENCES order_items (account_id, order_item_id)
);
CREATE INDEX invoice_lines_by_order_item
    ON invoice_lines (account_id, order_item_id) WHERE order_item_id IS NOT NULL;

-- Rows are only ever added. cents: positive if the money came in. source: identifies the entry of a
-- bank statement. left_cents: what is not allocated.
CREATE TABLE payments (
    account_id BIGINT NOT NULL,
    payment_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('payment', 'reversal', 'paid_back')),
    value_date TEXT COLLATE "C" NOT NULL,
    booked_on TEXT COLLATE "C" NOT NULL,
    cents BIGINT NOT NULL,
    fee BIGINT NOT NULL DEFAULT 0,
    payment_type TEXT COLLATE "C",
    reference TEXT COLLATE "C",
    reverses_id BIGINT,
    reason TEXT COLLATE "C",
    source TEXT COLLATE "C",
    left_cents BIGINT NOT NULL,
    PRIMARY KEY (account_id, payment_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, reverses_id)
        REFERENCES payments (account_id, payment_id) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX payments_by_source ON payments (account_id, source) WHERE source IS NOT NULL;
CREATE INDEX payments_by_subscriber ON payments (account_id, subscriber_id, payment_id);
CREATE INDEX payments_by_reversed
    ON payments (account_id, reverses_id) WHERE reverses_id IS NOT NULL;
CREATE INDEX payments_with_left
    ON payments (account_id, subscriber_id, payment_id) WHERE left_cents <> 0;

-- Rows are only ever added: what settles an invoice. Negative cents take an earlier one back.
CREATE TABLE allocations (
    account_id BIGINT NOT NULL,
    allocation_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('payment', 'credit_note', 'write_off')),
    payment_id BIGINT,
    credit_note_id BIGINT,
    cents BIGINT NOT NULL,
    booked_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, allocation_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id),
    FOREIGN KEY (account_id, credit_note_id) REFERENCES invoices (account_id, invoice_id)
);
CREATE INDEX allocations_by_invoice ON allocations (account_id, invoice_id, allocation_id);
CREATE INDEX allocations_by_payment
    ON allocations (account_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX allocations_by_credit_note
    ON allocations (account_id, credit_note_id) WHERE credit_note_id IS NOT NULL;

-- Rows are only ever added; the lines of an entry add up to 0. account: such as receivables. cents:
-- positive is debit. The text names no person.
CREATE TABLE journal_lines (
    account_id BIGINT NOT NULL,
    entry_id BIGINT NOT NULL,
    line_number BIGINT NOT NULL,
    booked_on TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    cents BIGINT NOT NULL,
    text TEXT COLLATE "C",
    invoice_id BIGINT,
    payment_id BIGINT,
    PRIMARY KEY (account_id, entry_id, line_number),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
);
CREATE INDEX journal_lines_by_day ON journal_lines (account_id, booked_on, account, cents);
CREATE INDEX journal_lines_by_invoice
    ON journal_lines (account_id, invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX journal_lines_by_payment
    ON journal_lines (account_id, payment_id) WHERE payment_id IS NOT NULL;

-- month_id: such as 202611. Nothing is booked into a closed month.
CREATE TABLE closed_months (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    month_id BIGINT NOT NULL,
    closed_on TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, month_id)
);

-- Files of banks of which an entry was new. digest: the SHA-256 of the file.
CREATE TABLE bank_files (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    bank_file_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    iban TEXT COLLATE "C",
    payment_type TEXT COLLATE "C",
    imported_at TEXT COLLATE "C",
    PRIMARY KEY (account_id, bank_file_id)
);

-- fingerprint: the same for an entry in each file that has it. iban: the last four characters of
-- the other side's. subscriber_id: the payer whose entry it is, or is proposed to be.
CREATE TABLE bank_entries (
    account_id BIGINT NOT NULL,
    bank_entry_id BIGINT NOT NULL,
    bank_file_id BIGINT NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    value_date TEXT COLLATE "C" NOT NULL,
    cents BIGINT NOT NULL,
    fee BIGINT NOT NULL DEFAULT 0,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('settled', 'proposed', 'unknown', 'taken', 'ignored')),
    subscriber_id BIGINT,
    invoice_id BIGINT,
    payment_id BIGINT,
    name TEXT COLLATE "C",
    iban TEXT COLLATE "C",
    reference TEXT COLLATE "C",
    end_to_end_id TEXT COLLATE "C",
    return_reason TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    PRIMARY KEY (account_id, bank_entry_id),
    FOREIGN KEY (account_id, bank_file_id) REFERENCES bank_files (account_id, bank_file_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
);
CREATE UNIQUE INDEX bank_entries_by_fingerprint ON bank_entries (account_id, fingerprint);
CREATE INDEX bank_entries_by_file ON bank_entries (account_id, bank_file_id, bank_entry_id);
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
    account_id BIGINT NOT NULL,
    mandate_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    scheme TEXT COLLATE "C" NOT NULL CHECK (scheme IN ('core', 'b2b')),
    account_holder TEXT COLLATE "C",
    iban TEXT COLLATE "C",
    iban_end TEXT COLLATE "C",
    bic TEXT COLLATE "C",
    signed_on TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'resting', 'ended')),
    status_since TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    used_on TEXT COLLATE "C",
    PRIMARY KEY (account_id, mandate_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE UNIQUE INDEX mandates_by_reference ON mandates (account_id, reference);
CREATE INDEX mandates_by_subscriber ON mandates (account_id, subscriber_id, mandate_id);

-- The files of collections for the bank. claims: their number, cents: their sum.
CREATE TABLE debit_runs (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    debit_run_id BIGINT NOT NULL,
    created_at TEXT COLLATE "C",
    collected_on TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL CHECK (version IN ('pain.008.001.08', 'pain.008.001.02')),
    claims BIGINT NOT NULL,
    cents BIGINT NOT NULL,
    creditor TEXT COLLATE "C",
    PRIMARY KEY (account_id, debit_run_id)
);
CREATE UNIQUE INDEX debit_runs_by_message ON debit_runs (account_id, message_id);

-- The invoices that a run hands in to the bank.
CREATE TABLE claims (
    account_id BIGINT NOT NULL,
    claim_id BIGINT NOT NULL,
    debit_run_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    mandate_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    cents BIGINT NOT NULL,
    end_to_end_id TEXT COLLATE "C" NOT NULL,
    sequence TEXT COLLATE "C" NOT NULL CHECK (sequence IN ('FRST', 'RCUR', 'OOFF', 'FNAL')),
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('sent', 'paid', 'returned', 'cancelled')),
    payment_id BIGINT,
    returned_on TEXT COLLATE "C",
    return_reason TEXT COLLATE "C",
    fee BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, claim_id),
    FOREIGN KEY (account_id, debit_run_id) REFERENCES debit_runs (account_id, debit_run_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, mandate_id) REFERENCES mandates (account_id, mandate_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, payment_id) REFERENCES payments (account_id, payment_id)
);
CREATE UNIQUE INDEX claims_by_end_to_end_id ON claims (account_id, end_to_end_id);
CREATE INDEX claims_by_run ON claims (account_id, debit_run_id, claim_id);
CREATE INDEX claims_by_invoice ON claims (account_id, invoice_id, claim_id);
CREATE INDEX claims_by_mandate ON claims (account_id, mandate_id, claim_id);
CREATE INDEX claims_by_subscriber ON claims (account_id, subscriber_id, claim_id);
CREATE INDEX claims_by_payment
    ON claims (account_id, payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX claims_with_the_bank ON claims (account_id, invoice_id) WHERE status = 'sent';

-- The steps of reminding. days: after the due date.
CREATE TABLE reminder_levels (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    level BIGINT NOT NULL,
    days BIGINT NOT NULL,
    fee BIGINT NOT NULL DEFAULT 0,
    then_do TEXT COLLATE "C" NOT NULL CHECK (then_do IN ('nothing', 'stop', 'write_off')),
    text TEXT COLLATE "C",
    PRIMARY KEY (account_id, level)
);

-- fee_invoice_id: the invoice of the fee. read_until: up to which value date payments were read.
CREATE TABLE reminders (
    account_id BIGINT NOT NULL,
    reminder_id BIGINT NOT NULL,
    invoice_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    level BIGINT NOT NULL,
    reminded_on TEXT COLLATE "C" NOT NULL,
    fee BIGINT NOT NULL DEFAULT 0,
    fee_invoice_id BIGINT,
    read_until TEXT COLLATE "C",
    printed TEXT COLLATE "C",
    PRIMARY KEY (account_id, reminder_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, fee_invoice_id) REFERENCES invoices (account_id, invoice_id)
);
CREATE INDEX reminders_by_invoice ON reminders (account_id, invoice_id, level);
CREATE INDEX reminders_by_subscriber ON reminders (account_id, subscriber_id, reminder_id);
CREATE INDEX reminders_by_fee_invoice
    ON reminders (account_id, fee_invoice_id) WHERE fee_invoice_id IS NOT NULL;

-- The consents to automatic renewal with a bundle. At most one of a subscription runs.
CREATE TABLE renewal_consents (
    account_id BIGINT NOT NULL,
    consent_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    bundle_id BIGINT NOT NULL,
    given_on TEXT COLLATE "C" NOT NULL,
    words TEXT COLLATE "C",
    source TEXT COLLATE "C",
    stopped_on TEXT COLLATE "C",
    stop_reason TEXT COLLATE "C",
    PRIMARY KEY (account_id, consent_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
);
CREATE UNIQUE INDEX renewal_consents_that_run
    ON renewal_consents (account_id, subscription_id) WHERE stopped_on IS NULL;
CREATE INDEX renewal_consents_by_subscription
    ON renewal_consents (account_id, subscription_id, consent_id);
CREATE INDEX renewal_consents_by_subscriber
    ON renewal_consents (account_id, subscriber_id, consent_id);
CREATE INDEX renewal_consents_by_bundle ON renewal_consents (account_id, bundle_id, consent_id);

-- term_id: the term that runs out, which is renewed once.
CREATE TABLE announced_renewals (
    account_id BIGINT NOT NULL,
    announcement_id BIGINT NOT NULL,
    consent_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    term_id BIGINT NOT NULL,
    bundle_id BIGINT NOT NULL,
    price BIGINT NOT NULL,
    tax BIGINT NOT NULL,
    announced_on TEXT COLLATE "C" NOT NULL,
    renews_on TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('announced', 'renewed', 'stopped', 'refused')),
    order_id BIGINT,
    reason TEXT COLLATE "C",
    PRIMARY KEY (account_id, announcement_id),
    FOREIGN KEY (account_id, consent_id) REFERENCES renewal_consents (account_id, consent_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, term_id) REFERENCES terms (account_id, term_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id)
);
CREATE UNIQUE INDEX announced_renewals_by_term
    ON announced_renewals (account_id, subscription_id, term_id);
CREATE INDEX announced_renewals_of_a_term ON announced_renewals (account_id, term_id);
CREATE INDEX announced_renewals_by_consent
    ON announced_renewals (account_id, consent_id, announcement_id);
CREATE INDEX announced_renewals_by_bundle
    ON announced_renewals (account_id, bundle_id, announcement_id);
CREATE INDEX announced_renewals_by_order
    ON announced_renewals (account_id, order_id) WHERE order_id IS NOT NULL;
CREATE INDEX announced_renewals_to_come
    ON announced_renewals (account_id, renews_on, announcement_id) WHERE status = 'announced';

-- The emails that are sent, not before due_at, or were.
CREATE TABLE mails (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    mail_id BIGINT NOT NULL,
    subscriber_id BIGINT,
    address TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL
        CHECK (kind IN ('invoice', 'credit_note', 'reminder', 'announcement', 'welcome',
            'cancellation', 'renewal', 'sign_in_link', 'password_link', 'confirmation',
            'requalification')),
    subject TEXT COLLATE "C",
    text TEXT COLLATE "C",
    invoice_id BIGINT,
    reminder_id BIGINT,
    subscription_id BIGINT,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('queued', 'sent', 'failed', 'held', 'cancelled')),
    queued_at TEXT COLLATE "C",
    due_at TEXT COLLATE "C",
    tries BIGINT NOT NULL DEFAULT 0,
    sent_at TEXT COLLATE "C",
    error TEXT COLLATE "C",
    message_id TEXT COLLATE "C",
    PRIMARY KEY (account_id, mail_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, invoice_id) REFERENCES invoices (account_id, invoice_id),
    FOREIGN KEY (account_id, reminder_id) REFERENCES reminders (account_id, reminder_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);
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
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    held_address_id BIGINT NOT NULL,
    subscriber_id BIGINT,
    address TEXT COLLATE "C",
    held_on TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    bounces BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, held_address_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE UNIQUE INDEX held_addresses_by_address
    ON held_addresses (account_id, address) WHERE address IS NOT NULL;
CREATE INDEX held_addresses_by_subscriber
    ON held_addresses (account_id, subscriber_id) WHERE subscriber_id IS NOT NULL;

-- The letters about subscriptions that were written.
CREATE TABLE letters (
    account_id BIGINT NOT NULL,
    letter_id BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('welcome', 'cancellation')),
    subscription_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    written_on TEXT COLLATE "C" NOT NULL,
    by_email BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, letter_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE INDEX letters_by_subscription ON letters (account_id, subscription_id, letter_id);
CREATE INDEX letters_by_subscriber ON letters (account_id, subscriber_id, letter_id);

-- Only the settings of the readers' pages that were set; the others have their defaults.
CREATE TABLE page_settings (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    setting_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C",
    PRIMARY KEY (account_id, setting_id)
);
CREATE UNIQUE INDEX page_settings_by_name ON page_settings (account_id, name);

-- The bundles that readers can renew with, buy or give on their pages.
CREATE TABLE reader_bundles (
    account_id BIGINT NOT NULL,
    bundle_id BIGINT NOT NULL,
    renew BIGINT NOT NULL DEFAULT 0 CHECK (renew IN (0, 1)),
    buy BIGINT NOT NULL DEFAULT 0 CHECK (buy IN (0, 1)),
    gift BIGINT NOT NULL DEFAULT 0 CHECK (gift IN (0, 1)),
    PRIMARY KEY (account_id, bundle_id),
    FOREIGN KEY (account_id, bundle_id) REFERENCES bundles (account_id, bundle_id)
);

-- What readers changed on their pages. before, after: JSON.
CREATE TABLE reader_changes (
    account_id BIGINT NOT NULL,
    reader_change_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    subscription_id BIGINT,
    kind TEXT COLLATE "C" NOT NULL
        CHECK (kind IN ('contact', 'address', 'subscription_address', 'temporary_address',
            'pause', 'resume', 'cancel', 'uncancel', 'automatic_renewal', 'order',
            'missing_copy', 'answers', 'consents', 'password')),
    made_at TEXT COLLATE "C",
    before TEXT COLLATE "C",
    after TEXT COLLATE "C",
    undone_at TEXT COLLATE "C",
    undone_by TEXT COLLATE "C",
    PRIMARY KEY (account_id, reader_change_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);
CREATE INDEX reader_changes_by_subscriber
    ON reader_changes (account_id, subscriber_id, reader_change_id);
CREATE INDEX reader_changes_by_subscription
    ON reader_changes (account_id, subscription_id) WHERE subscription_id IS NOT NULL;

-- The consents of readers, each for a purpose of the publisher.
CREATE TABLE reader_consents (
    account_id BIGINT NOT NULL,
    reader_consent_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    given_at TEXT COLLATE "C",
    ended_at TEXT COLLATE "C",
    PRIMARY KEY (account_id, reader_consent_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE INDEX reader_consents_by_subscriber
    ON reader_consents (account_id, subscriber_id, reader_consent_id);

-- What readers ask the desk for.
CREATE TABLE reader_requests (
    account_id BIGINT NOT NULL,
    reader_request_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    subscription_id BIGINT,
    issue_id BIGINT,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('missing_copy', 'erasure', 'message')),
    text TEXT COLLATE "C",
    made_at TEXT COLLATE "C",
    answered_at TEXT COLLATE "C",
    answered_by TEXT COLLATE "C",
    PRIMARY KEY (account_id, reader_request_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);
CREATE INDEX reader_requests_by_subscriber
    ON reader_requests (account_id, subscriber_id, reader_request_id);
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
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    months BIGINT NOT NULL DEFAULT 36,
    fills TEXT COLLATE "C" NOT NULL DEFAULT 'newest'
        CHECK (fills IN ('newest', 'class', 'request')),
    type TEXT COLLATE "C" NOT NULL DEFAULT 'Print',
    agreed_text TEXT COLLATE "C",
    PRIMARY KEY (account_id, publication_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id)
);

-- The questions of a form, in the order of position.
CREATE TABLE qualification_questions (
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    field_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    required BIGINT NOT NULL DEFAULT 0 CHECK (required IN (0, 1)),
    allow_other BIGINT NOT NULL DEFAULT 0 CHECK (allow_other IN (0, 1)),
    PRIMARY KEY (account_id, publication_id, field_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
);
CREATE INDEX qualification_questions_by_field
    ON qualification_questions (account_id, field_id, publication_id);

-- The audit classes of a publication: the first whose conditions hold, by position. One that is
-- not used any more has no position; qualifications of before still name it. quota: the most copies
-- of an issue; NULL is no ceiling.
CREATE TABLE audit_classes (
    account_id BIGINT NOT NULL,
    audit_class_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    position BIGINT,
    code TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    served BIGINT NOT NULL DEFAULT 1 CHECK (served IN (0, 1)),
    quota BIGINT,
    PRIMARY KEY (account_id, audit_class_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id)
);
CREATE UNIQUE INDEX audit_classes_by_code ON audit_classes (account_id, publication_id, code);

-- All conditions of a class must hold: one of the options was answered. option_ids: in ascending
-- order, separated by '|'.
CREATE TABLE audit_class_conditions (
    account_id BIGINT NOT NULL,
    audit_class_id BIGINT NOT NULL,
    field_id BIGINT NOT NULL,
    option_ids TEXT COLLATE "C",
    PRIMARY KEY (account_id, audit_class_id, field_id),
    FOREIGN KEY (account_id, audit_class_id)
        REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
);
CREATE INDEX audit_class_conditions_by_field
    ON audit_class_conditions (account_id, field_id, audit_class_id);

-- How a qualification came. is_request: the reader asked for it.
CREATE TABLE request_types (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    request_type_id BIGINT NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    position BIGINT NOT NULL,
    is_request BIGINT NOT NULL DEFAULT 1 CHECK (is_request IN (0, 1)),
    PRIMARY KEY (account_id, request_type_id)
);
CREATE UNIQUE INDEX request_types_by_code ON request_types (account_id, code);

-- Rows are only ever added; an erasure blanks what is personal. qualified_on: the day of the
-- answers. valid_until: the last day. request_type: the code. new_class_id: the class by the rules
-- of the classes that changed since; NULL is audit_class_id. answers: JSON, by the id of the field:
-- options, text. evidence: JSON.
CREATE TABLE qualifications (
    account_id BIGINT NOT NULL,
    qualification_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    subscription_id BIGINT,
    qualified_on TEXT COLLATE "C" NOT NULL,
    valid_until TEXT COLLATE "C" NOT NULL,
    request_type TEXT COLLATE "C" NOT NULL,
    audit_class_id BIGINT,
    new_class_id BIGINT,
    disqualified BIGINT NOT NULL DEFAULT 0 CHECK (disqualified IN (0, 1)),
    answers TEXT COLLATE "C",
    taken_by TEXT COLLATE "C",
    evidence TEXT COLLATE "C",
    external_reference TEXT COLLATE "C",
    recorded_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, qualification_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, audit_class_id) REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, new_class_id) REFERENCES audit_classes (account_id, audit_class_id)
);
CREATE INDEX qualifications_by_subscriber
    ON qualifications (account_id, subscriber_id, qualification_id);
CREATE INDEX qualifications_by_reference
    ON qualifications (account_id, publication_id, external_reference)
    WHERE external_reference IS NOT NULL;
CREATE INDEX qualifications_by_subscription ON qualifications (account_id, subscription_id)
    WHERE subscription_id IS NOT NULL;

-- The newest qualification of a subscription, by its day and then its id, with what closing reads.
-- It follows from the tables above, but for lapsed_by: the list whose closing noted that it lapsed.
-- served: its class is served, and no answer disqualifies.
CREATE TABLE qualified_subscriptions (
    account_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    qualification_id BIGINT NOT NULL,
    audit_class_id BIGINT,
    class_position BIGINT,
    request_position BIGINT,
    qualified_on TEXT COLLATE "C" NOT NULL,
    valid_until TEXT COLLATE "C" NOT NULL,
    served BIGINT NOT NULL DEFAULT 1 CHECK (served IN (0, 1)),
    lapsed_by BIGINT,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id),
    FOREIGN KEY (account_id, qualification_id)
        REFERENCES qualifications (account_id, qualification_id),
    FOREIGN KEY (account_id, audit_class_id) REFERENCES audit_classes (account_id, audit_class_id),
    FOREIGN KEY (account_id, lapsed_by) REFERENCES list_downloads (account_id, mailing_list_id)
);
CREATE INDEX qualified_subscriptions_by_end
    ON qualified_subscriptions (account_id, publication_id, valid_until, subscription_id);
CREATE INDEX qualified_subscriptions_by_list
    ON qualified_subscriptions (account_id, lapsed_by) WHERE lapsed_by IS NOT NULL;

-- The figures of the audit report of an issue, written with its file and never changed. Before
-- that, rows of the part 'noted removal' say why readers of the issue before do not get this one:
-- they are made with each list, and the figures replace them. position: of the row in the report.
CREATE TABLE audit_figures (
    account_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    position BIGINT NOT NULL,
    part TEXT COLLATE "C" NOT NULL,
    key1 TEXT COLLATE "C",
    key2 TEXT COLLATE "C",
    key3 TEXT COLLATE "C",
    subscriptions BIGINT NOT NULL DEFAULT 0,
    copies BIGINT NOT NULL DEFAULT 0,
    printed BIGINT NOT NULL DEFAULT 0,
    digital BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, issue_id, position),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);

-- When readers are asked to requalify: so many days before the end, in a way.
CREATE TABLE requalification_efforts (
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    effort BIGINT NOT NULL,
    days_before BIGINT NOT NULL,
    way TEXT COLLATE "C" NOT NULL CHECK (way IN ('letter', 'email', 'telephone')),
    PRIMARY KEY (account_id, publication_id, effort),
    FOREIGN KEY (account_id, publication_id)
        REFERENCES qualification_forms (account_id, publication_id)
);

CREATE TABLE requalifications_sent (
    account_id BIGINT NOT NULL,
    qualification_id BIGINT NOT NULL,
    effort BIGINT NOT NULL,
    sent_on TEXT COLLATE "C",
    PRIMARY KEY (account_id, qualification_id, effort),
    FOREIGN KEY (account_id, qualification_id)
        REFERENCES qualifications (account_id, qualification_id)
);

-- The records that were removed, each with the commit that removed it last. A record that came back
-- keeps its row: whoever reads this table looks whether the record is there.
CREATE TABLE deletions (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    entity TEXT COLLATE "C" NOT NULL,
    record_id BIGINT NOT NULL,
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, entity, record_id)
);
CREATE INDEX deletions_by_commit ON deletions (account_id, entity, commit_id, record_id);

-- Whose personal data are kept blank, whatever is loaded. erased_at: YYYY-MM-DD hh:mm:ss, in the
-- time zone of the account. It
-- refers to no row of subscribers: it holds also for a subscriber whom only a later load adds.
CREATE TABLE erasures (
    account_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    erased_at TEXT COLLATE "C",
    PRIMARY KEY (account_id, subscriber_id)
);

-- The ids of records that have none in their source: key_digest is that of their natural key there,
-- table_name the table, or what else an id of another system identifies. A row is never changed or
-- deleted before its account is, so that a key has the same id for ever; but the row with an empty
-- digest has the greatest id so far.
CREATE TABLE natural_keys (
    account_id BIGINT NOT NULL,
    table_name TEXT COLLATE "C" NOT NULL,
    key_digest TEXT COLLATE "C" NOT NULL,
    record_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, table_name, key_digest)
);

-- Staging: the rows of the loads that run now, each with its load, file and line, and with a mask
-- of the columns that its file has (present). Unlogged: after a crash the load is run again.
CREATE UNLOGGED TABLE staged_books (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    books_id BIGINT,
    opened_on TEXT COLLATE "C",
    opened_at TEXT COLLATE "C",
    last_order_before BIGINT
);
CREATE INDEX staged_books_by_key
    ON staged_books (account_id, load_id, books_id);

CREATE UNLOGGED TABLE staged_publications (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    publication_id BIGINT,
    name TEXT COLLATE "C",
    issues_per_year BIGINT,
    late_start TEXT COLLATE "C",
    grace_counts BIGINT,
    credit_issues BIGINT,
    unlimited_term_months BIGINT,
    given_here BIGINT
);
CREATE INDEX staged_publications_by_key
    ON staged_publications (account_id, load_id, publication_id);

CREATE UNLOGGED TABLE staged_list_downloads (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    mailing_list_id BIGINT,
    name TEXT COLLATE "C",
    status TEXT COLLATE "C",
    count BIGINT,
    is_gap BIGINT,
    grace_from_date TEXT COLLATE "C",
    grace_issues BIGINT,
    parent_mailing_list_id BIGINT,
    date_created TEXT COLLATE "C"
);
CREATE INDEX staged_list_downloads_by_key
    ON staged_list_downloads (account_id, load_id, mailing_list_id);

CREATE UNLOGGED TABLE staged_issues (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    issue_id BIGINT,
    publication_id BIGINT,
    name TEXT COLLATE "C",
    date TEXT COLLATE "C",
    number BIGINT,
    closes_on TEXT COLLATE "C",
    mailed_on TEXT COLLATE "C",
    closed_at TEXT COLLATE "C",
    mailing_list_id BIGINT,
    file_written_at TEXT COLLATE "C",
    given_here BIGINT
);
CREATE INDEX staged_issues_by_key
    ON staged_issues (account_id, load_id, issue_id);

CREATE UNLOGGED TABLE staged_subscribers (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscriber_id BIGINT,
    renewal_code TEXT COLLATE "C",
    email TEXT COLLATE "C",
    password_md5 TEXT COLLATE "C",
    password_hash TEXT COLLATE "C",
    first_name TEXT COLLATE "C",
    last_name TEXT COLLATE "C",
    source TEXT COLLATE "C",
    delete_date TEXT COLLATE "C",
    merged_into BIGINT,
    given_here BIGINT,
    first_name_folded TEXT COLLATE "C",
    last_name_folded TEXT COLLATE "C",
    first_name_plain TEXT COLLATE "C",
    last_name_plain TEXT COLLATE "C",
    last_name_end TEXT COLLATE "C",
    password_hash_loaded TEXT COLLATE "C"
);
CREATE INDEX staged_subscribers_by_key
    ON staged_subscribers (account_id, load_id, subscriber_id);

CREATE UNLOGGED TABLE staged_addresses (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    address_id BIGINT,
    subscriber_id BIGINT,
    first_name TEXT COLLATE "C",
    last_name TEXT COLLATE "C",
    company TEXT COLLATE "C",
    address TEXT COLLATE "C",
    city TEXT COLLATE "C",
    state TEXT COLLATE "C",
    zip_code TEXT COLLATE "C",
    country_name TEXT COLLATE "C",
    country_abbreviation TEXT COLLATE "C",
    latitude TEXT COLLATE "C",
    longitude TEXT COLLATE "C",
    verified BIGINT,
    given_here BIGINT
);
CREATE INDEX staged_addresses_by_key
    ON staged_addresses (account_id, load_id, address_id);

CREATE UNLOGGED TABLE staged_subscriptions (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscription_id BIGINT,
    subscriber_id BIGINT,
    publication_id BIGINT,
    mailing_address_id BIGINT,
    billing_address_id BIGINT,
    issues BIGINT,
    copies BIGINT,
    paid_issues_left BIGINT,
    unearned_revenue TEXT COLLATE "C",
    type TEXT COLLATE "C",
    date_created TEXT COLLATE "C",
    date_expired TEXT COLLATE "C",
    date_last_renewed TEXT COLLATE "C",
    last_purchase_bundle_id BIGINT,
    last_purchase_id BIGINT,
    renew_campaign_active BIGINT,
    audit_classification TEXT COLLATE "C",
    audit_request_type TEXT COLLATE "C",
    begins_on TEXT COLLATE "C",
    cancelled_on TEXT COLLATE "C",
    merged_into BIGINT
);
CREATE INDEX staged_subscriptions_by_key
    ON staged_subscriptions (account_id, load_id, subscription_id);

CREATE UNLOGGED TABLE staged_custom_fields (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    field_id BIGINT,
    name TEXT COLLATE "C",
    display_as TEXT COLLATE "C",
    type TEXT COLLATE "C",
    allow_other BIGINT
);
CREATE INDEX staged_custom_fields_by_key
    ON staged_custom_fields (account_id, load_id, field_id);

CREATE UNLOGGED TABLE staged_custom_field_options (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    option_id BIGINT,
    field_id BIGINT,
    value TEXT COLLATE "C",
    display_as TEXT COLLATE "C",
    disqualifier BIGINT,
    active BIGINT,
    "order" BIGINT
);
CREATE INDEX staged_custom_field_options_by_key
    ON staged_custom_field_options (account_id, load_id, option_id);

CREATE UNLOGGED TABLE staged_custom_field_answers (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscriber_id BIGINT,
    field_id BIGINT,
    option_ids TEXT COLLATE "C",
    text_value TEXT COLLATE "C",
    answered_on TEXT COLLATE "C"
);
CREATE INDEX staged_custom_field_answers_by_key
    ON staged_custom_field_answers (account_id, load_id, subscriber_id, field_id);

CREATE UNLOGGED TABLE staged_classes (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    class_id BIGINT,
    name TEXT COLLATE "C"
);
CREATE INDEX staged_classes_by_key
    ON staged_classes (account_id, load_id, class_id);

CREATE UNLOGGED TABLE staged_bundles (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    bundle_id BIGINT,
    name TEXT COLLATE "C",
    active BIGINT,
    price BIGINT,
    tax BIGINT,
    given_here BIGINT
);
CREATE INDEX staged_bundles_by_key
    ON staged_bundles (account_id, load_id, bundle_id);

CREATE UNLOGGED TABLE staged_bundle_lines (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    bundle_id BIGINT,
    line_number BIGINT,
    publication_id BIGINT,
    issues BIGINT,
    type TEXT COLLATE "C",
    copies BIGINT,
    price BIGINT,
    months BIGINT,
    digital_share BIGINT
);
CREATE INDEX staged_bundle_lines_by_key
    ON staged_bundle_lines (account_id, load_id, bundle_id, line_number);

CREATE UNLOGGED TABLE staged_products (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    product_id BIGINT,
    name TEXT COLLATE "C",
    active BIGINT,
    price BIGINT,
    tax BIGINT,
    given_here BIGINT
);
CREATE INDEX staged_products_by_key
    ON staged_products (account_id, load_id, product_id);

CREATE UNLOGGED TABLE staged_orders (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    order_id BIGINT,
    subscriber_id BIGINT,
    mailing_address_id BIGINT,
    billing_address_id BIGINT,
    import_name TEXT COLLATE "C",
    user_id BIGINT,
    channel_id BIGINT,
    order_date TEXT COLLATE "C",
    is_gift BIGINT,
    sub_total TEXT COLLATE "C",
    tax_total TEXT COLLATE "C",
    grand_total TEXT COLLATE "C",
    external_reference TEXT COLLATE "C",
    content_digest TEXT COLLATE "C",
    paid_on TEXT COLLATE "C",
    payment_type TEXT COLLATE "C",
    payment_reference TEXT COLLATE "C",
    disputed_on TEXT COLLATE "C",
    dispute TEXT COLLATE "C",
    dispute_ended_on TEXT COLLATE "C",
    dispute_result TEXT COLLATE "C",
    shipping BIGINT,
    shipping_tax BIGINT
);
CREATE INDEX staged_orders_by_key
    ON staged_orders (account_id, load_id, order_id);

CREATE UNLOGGED TABLE staged_purchases (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    purchase_id BIGINT,
    payment_type TEXT COLLATE "C",
    notes TEXT COLLATE "C",
    subscriber_id BIGINT,
    bundle_id BIGINT,
    shipping_address_id BIGINT,
    billing_address_id BIGINT,
    name TEXT COLLATE "C",
    invoice_id TEXT COLLATE "C",
    total TEXT COLLATE "C",
    product_total TEXT COLLATE "C",
    is_gift BIGINT
);
CREATE INDEX staged_purchases_by_key
    ON staged_purchases (account_id, load_id, purchase_id);

CREATE UNLOGGED TABLE staged_order_items (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    order_item_id BIGINT,
    order_id BIGINT,
    bundle_id BIGINT,
    product_id BIGINT,
    refund_date TEXT COLLATE "C",
    fulfilled_date TEXT COLLATE "C",
    sub_total TEXT COLLATE "C",
    tax_total TEXT COLLATE "C",
    grand_total TEXT COLLATE "C",
    purchase_id BIGINT,
    refunded BIGINT,
    is_dropped BIGINT,
    copies BIGINT,
    list_price BIGINT
);
CREATE INDEX staged_order_items_by_key
    ON staged_order_items (account_id, load_id, order_item_id);

CREATE UNLOGGED TABLE staged_terms (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    term_id BIGINT,
    subscription_id BIGINT,
    order_item_id BIGINT,
    issues BIGINT,
    issues_left BIGINT,
    copies BIGINT,
    price BIGINT,
    paid_on TEXT COLLATE "C",
    kind TEXT COLLATE "C",
    class TEXT COLLATE "C",
    months BIGINT,
    starts_on TEXT COLLATE "C",
    ended_at TEXT COLLATE "C",
    moved_after BIGINT,
    free_copies BIGINT,
    free_class TEXT COLLATE "C",
    allowed BIGINT,
    spread_after BIGINT,
    spread_earned BIGINT,
    spread_parts BIGINT
);
CREATE INDEX staged_terms_by_key
    ON staged_terms (account_id, load_id, term_id);

CREATE UNLOGGED TABLE staged_revenue (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    revenue_id BIGINT,
    term_id BIGINT,
    issue_id BIGINT,
    kind TEXT COLLATE "C",
    cents BIGINT,
    booked_on TEXT COLLATE "C"
);
CREATE INDEX staged_revenue_by_key
    ON staged_revenue (account_id, load_id, revenue_id);

CREATE UNLOGGED TABLE staged_subscription_issues (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscription_id BIGINT,
    issue_id BIGINT,
    mailing_list_id BIGINT,
    term_id BIGINT,
    is_grace BIGINT,
    address_id BIGINT
);
CREATE INDEX staged_subscription_issues_by_key
    ON staged_subscription_issues (account_id, load_id, subscription_id, issue_id);

CREATE UNLOGGED TABLE staged_suspensions (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    suspension_id BIGINT,
    subscription_id BIGINT,
    from_date TEXT COLLATE "C",
    to_date TEXT COLLATE "C"
);
CREATE INDEX staged_suspensions_by_key
    ON staged_suspensions (account_id, load_id, suspension_id);

CREATE UNLOGGED TABLE staged_temporary_addresses (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    temporary_address_id BIGINT,
    subscription_id BIGINT,
    address_id BIGINT,
    from_date TEXT COLLATE "C",
    to_date TEXT COLLATE "C"
);
CREATE INDEX staged_temporary_addresses_by_key
    ON staged_temporary_addresses (account_id, load_id, temporary_address_id);

CREATE UNLOGGED TABLE staged_replacements (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    replacement_id BIGINT,
    subscription_id BIGINT,
    issue_id BIGINT,
    copies BIGINT,
    asked_on TEXT COLLATE "C",
    written_at TEXT COLLATE "C"
);
CREATE INDEX staged_replacements_by_key
    ON staged_replacements (account_id, load_id, replacement_id);

CREATE UNLOGGED TABLE staged_cancellation_reasons (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    reason_id BIGINT,
    name TEXT COLLATE "C"
);
CREATE INDEX staged_cancellation_reasons_by_key
    ON staged_cancellation_reasons (account_id, load_id, reason_id);

CREATE UNLOGGED TABLE staged_cancellations (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscription_id BIGINT,
    reason TEXT COLLATE "C",
    made_on TEXT COLLATE "C",
    after_issue_id BIGINT,
    at_end BIGINT,
    is_refund BIGINT,
    campaign BIGINT,
    ended_on TEXT COLLATE "C",
    ended_issue_id BIGINT,
    revenue_id BIGINT,
    final_issue_id BIGINT
);
CREATE INDEX staged_cancellations_by_key
    ON staged_cancellations (account_id, load_id, subscription_id);

CREATE UNLOGGED TABLE staged_cancelled_terms (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    term_id BIGINT,
    issues_left BIGINT,
    earned BIGINT,
    refunded BIGINT,
    tax BIGINT,
    refund_date TEXT COLLATE "C"
);
CREATE INDEX staged_cancelled_terms_by_key
    ON staged_cancelled_terms (account_id, load_id, term_id);

CREATE UNLOGGED TABLE staged_renewal_efforts (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    publication_id BIGINT,
    effort BIGINT,
    issues_left BIGINT,
    bundle_id BIGINT,
    key_code TEXT COLLATE "C"
);
CREATE INDEX staged_renewal_efforts_by_key
    ON staged_renewal_efforts (account_id, load_id, publication_id, effort);

CREATE UNLOGGED TABLE staged_renewals_sent (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    term_id BIGINT,
    effort BIGINT,
    subscription_id BIGINT,
    sent_on TEXT COLLATE "C"
);
CREATE INDEX staged_renewals_sent_by_key
    ON staged_renewals_sent (account_id, load_id, term_id, effort);

CREATE UNLOGGED TABLE staged_mailing_list_entries (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    mailing_list_id BIGINT,
    subscription_id BIGINT,
    copies BIGINT,
    is_grace BIGINT,
    is_paid BIGINT,
    type TEXT COLLATE "C",
    class TEXT COLLATE "C",
    free_copies BIGINT,
    free_class TEXT COLLATE "C",
    qualification_id BIGINT
);
CREATE INDEX staged_mailing_list_entries_by_key
    ON staged_mailing_list_entries (account_id, load_id, mailing_list_id, subscription_id);

CREATE UNLOGGED TABLE staged_notes (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    note_id BIGINT,
    subscriber_id BIGINT,
    noted_at TEXT COLLATE "C",
    author TEXT COLLATE "C",
    text TEXT COLLATE "C"
);
CREATE INDEX staged_notes_by_key
    ON staged_notes (account_id, load_id, note_id);

CREATE UNLOGGED TABLE staged_complaints (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    complaint_id BIGINT,
    subscriber_id BIGINT,
    subscription_id BIGINT,
    issue_id BIGINT,
    kind TEXT COLLATE "C",
    answer TEXT COLLATE "C",
    made_at TEXT COLLATE "C",
    author TEXT COLLATE "C",
    text TEXT COLLATE "C"
);
CREATE INDEX staged_complaints_by_key
    ON staged_complaints (account_id, load_id, complaint_id);

CREATE UNLOGGED TABLE staged_billing (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    billing_id BIGINT,
    begun_on TEXT COLLATE "C"
);
CREATE INDEX staged_billing_by_key
    ON staged_billing (account_id, load_id, billing_id);

CREATE UNLOGGED TABLE staged_billing_settings (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    setting_id BIGINT,
    name TEXT COLLATE "C",
    value TEXT COLLATE "C"
);
CREATE INDEX staged_billing_settings_by_key
    ON staged_billing_settings (account_id, load_id, setting_id);

CREATE UNLOGGED TABLE staged_tax_rates (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    rate_id BIGINT,
    country TEXT COLLATE "C",
    state TEXT COLLATE "C",
    goods TEXT COLLATE "C",
    percent BIGINT,
    begins_on TEXT COLLATE "C"
);
CREATE INDEX staged_tax_rates_by_key
    ON staged_tax_rates (account_id, load_id, rate_id);

CREATE UNLOGGED TABLE staged_shipping_prices (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    shipping_price_id BIGINT,
    country TEXT COLLATE "C",
    type TEXT COLLATE "C",
    cents BIGINT,
    begins_on TEXT COLLATE "C"
);
CREATE INDEX staged_shipping_prices_by_key
    ON staged_shipping_prices (account_id, load_id, shipping_price_id);

CREATE UNLOGGED TABLE staged_payer_details (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscriber_id BIGINT,
    vat_id TEXT COLLATE "C",
    by_email BIGINT
);
CREATE INDEX staged_payer_details_by_key
    ON staged_payer_details (account_id, load_id, subscriber_id);

CREATE UNLOGGED TABLE staged_invoices (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    invoice_id BIGINT,
    kind TEXT COLLATE "C",
    series TEXT COLLATE "C",
    number BIGINT,
    number_text TEXT COLLATE "C",
    subscriber_id BIGINT,
    order_id BIGINT,
    of_invoice_id BIGINT,
    issued_on TEXT COLLATE "C",
    due_on TEXT COLLATE "C",
    net BIGINT,
    tax BIGINT,
    total BIGINT,
    open_cents BIGINT,
    payment_reference TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    printed TEXT COLLATE "C"
);
CREATE INDEX staged_invoices_by_key
    ON staged_invoices (account_id, load_id, invoice_id);

CREATE UNLOGGED TABLE staged_invoice_lines (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    invoice_id BIGINT,
    line_number BIGINT,
    order_item_id BIGINT,
    goods TEXT COLLATE "C",
    description TEXT COLLATE "C",
    copies BIGINT,
    net BIGINT,
    tax BIGINT,
    percent BIGINT,
    category TEXT COLLATE "C"
);
CREATE INDEX staged_invoice_lines_by_key
    ON staged_invoice_lines (account_id, load_id, invoice_id, line_number);

CREATE UNLOGGED TABLE staged_payments (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    payment_id BIGINT,
    subscriber_id BIGINT,
    kind TEXT COLLATE "C",
    value_date TEXT COLLATE "C",
    booked_on TEXT COLLATE "C",
    cents BIGINT,
    fee BIGINT,
    payment_type TEXT COLLATE "C",
    reference TEXT COLLATE "C",
    reverses_id BIGINT,
    reason TEXT COLLATE "C",
    source TEXT COLLATE "C",
    left_cents BIGINT
);
CREATE INDEX staged_payments_by_key
    ON staged_payments (account_id, load_id, payment_id);

CREATE UNLOGGED TABLE staged_allocations (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    allocation_id BIGINT,
    invoice_id BIGINT,
    kind TEXT COLLATE "C",
    payment_id BIGINT,
    credit_note_id BIGINT,
    cents BIGINT,
    booked_on TEXT COLLATE "C"
);
CREATE INDEX staged_allocations_by_key
    ON staged_allocations (account_id, load_id, allocation_id);

CREATE UNLOGGED TABLE staged_journal_lines (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    entry_id BIGINT,
    line_number BIGINT,
    booked_on TEXT COLLATE "C",
    account TEXT COLLATE "C",
    cents BIGINT,
    text TEXT COLLATE "C",
    invoice_id BIGINT,
    payment_id BIGINT
);
CREATE INDEX staged_journal_lines_by_key
    ON staged_journal_lines (account_id, load_id, entry_id, line_number);

CREATE UNLOGGED TABLE staged_closed_months (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    month_id BIGINT,
    closed_on TEXT COLLATE "C"
);
CREATE INDEX staged_closed_months_by_key
    ON staged_closed_months (account_id, load_id, month_id);

CREATE UNLOGGED TABLE staged_bank_files (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    bank_file_id BIGINT,
    name TEXT COLLATE "C",
    digest TEXT COLLATE "C",
    iban TEXT COLLATE "C",
    payment_type TEXT COLLATE "C",
    imported_at TEXT COLLATE "C"
);
CREATE INDEX staged_bank_files_by_key
    ON staged_bank_files (account_id, load_id, bank_file_id);

CREATE UNLOGGED TABLE staged_bank_entries (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    bank_entry_id BIGINT,
    bank_file_id BIGINT,
    fingerprint TEXT COLLATE "C",
    value_date TEXT COLLATE "C",
    cents BIGINT,
    fee BIGINT,
    status TEXT COLLATE "C",
    subscriber_id BIGINT,
    invoice_id BIGINT,
    payment_id BIGINT,
    name TEXT COLLATE "C",
    iban TEXT COLLATE "C",
    reference TEXT COLLATE "C",
    end_to_end_id TEXT COLLATE "C",
    return_reason TEXT COLLATE "C",
    reason TEXT COLLATE "C"
);
CREATE INDEX staged_bank_entries_by_key
    ON staged_bank_entries (account_id, load_id, bank_entry_id);

CREATE UNLOGGED TABLE staged_mandates (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    mandate_id BIGINT,
    subscriber_id BIGINT,
    reference TEXT COLLATE "C",
    scheme TEXT COLLATE "C",
    account_holder TEXT COLLATE "C",
    iban TEXT COLLATE "C",
    iban_end TEXT COLLATE "C",
    bic TEXT COLLATE "C",
    signed_on TEXT COLLATE "C",
    status TEXT COLLATE "C",
    status_since TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    used_on TEXT COLLATE "C"
);
CREATE INDEX staged_mandates_by_key
    ON staged_mandates (account_id, load_id, mandate_id);

CREATE UNLOGGED TABLE staged_debit_runs (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    debit_run_id BIGINT,
    created_at TEXT COLLATE "C",
    collected_on TEXT COLLATE "C",
    message_id TEXT COLLATE "C",
    version TEXT COLLATE "C",
    claims BIGINT,
    cents BIGINT,
    creditor TEXT COLLATE "C"
);
CREATE INDEX staged_debit_runs_by_key
    ON staged_debit_runs (account_id, load_id, debit_run_id);

CREATE UNLOGGED TABLE staged_claims (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    claim_id BIGINT,
    debit_run_id BIGINT,
    invoice_id BIGINT,
    mandate_id BIGINT,
    subscriber_id BIGINT,
    cents BIGINT,
    end_to_end_id TEXT COLLATE "C",
    sequence TEXT COLLATE "C",
    status TEXT COLLATE "C",
    payment_id BIGINT,
    returned_on TEXT COLLATE "C",
    return_reason TEXT COLLATE "C",
    fee BIGINT
);
CREATE INDEX staged_claims_by_key
    ON staged_claims (account_id, load_id, claim_id);

CREATE UNLOGGED TABLE staged_reminder_levels (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    level BIGINT,
    days BIGINT,
    fee BIGINT,
    then_do TEXT COLLATE "C",
    text TEXT COLLATE "C"
);
CREATE INDEX staged_reminder_levels_by_key
    ON staged_reminder_levels (account_id, load_id, level);

CREATE UNLOGGED TABLE staged_reminders (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    reminder_id BIGINT,
    invoice_id BIGINT,
    subscriber_id BIGINT,
    level BIGINT,
    reminded_on TEXT COLLATE "C",
    fee BIGINT,
    fee_invoice_id BIGINT,
    read_until TEXT COLLATE "C",
    printed TEXT COLLATE "C"
);
CREATE INDEX staged_reminders_by_key
    ON staged_reminders (account_id, load_id, reminder_id);

CREATE UNLOGGED TABLE staged_renewal_consents (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    consent_id BIGINT,
    subscription_id BIGINT,
    subscriber_id BIGINT,
    bundle_id BIGINT,
    given_on TEXT COLLATE "C",
    words TEXT COLLATE "C",
    source TEXT COLLATE "C",
    stopped_on TEXT COLLATE "C",
    stop_reason TEXT COLLATE "C"
);
CREATE INDEX staged_renewal_consents_by_key
    ON staged_renewal_consents (account_id, load_id, consent_id);

CREATE UNLOGGED TABLE staged_announced_renewals (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    announcement_id BIGINT,
    consent_id BIGINT,
    subscription_id BIGINT,
    term_id BIGINT,
    bundle_id BIGINT,
    price BIGINT,
    tax BIGINT,
    announced_on TEXT COLLATE "C",
    renews_on TEXT COLLATE "C",
    status TEXT COLLATE "C",
    order_id BIGINT,
    reason TEXT COLLATE "C"
);
CREATE INDEX staged_announced_renewals_by_key
    ON staged_announced_renewals (account_id, load_id, announcement_id);

CREATE UNLOGGED TABLE staged_mails (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    mail_id BIGINT,
    subscriber_id BIGINT,
    address TEXT COLLATE "C",
    kind TEXT COLLATE "C",
    subject TEXT COLLATE "C",
    text TEXT COLLATE "C",
    invoice_id BIGINT,
    reminder_id BIGINT,
    subscription_id BIGINT,
    status TEXT COLLATE "C",
    queued_at TEXT COLLATE "C",
    due_at TEXT COLLATE "C",
    tries BIGINT,
    sent_at TEXT COLLATE "C",
    error TEXT COLLATE "C",
    message_id TEXT COLLATE "C"
);
CREATE INDEX staged_mails_by_key
    ON staged_mails (account_id, load_id, mail_id);

CREATE UNLOGGED TABLE staged_held_addresses (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    held_address_id BIGINT,
    subscriber_id BIGINT,
    address TEXT COLLATE "C",
    held_on TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    bounces BIGINT
);
CREATE INDEX staged_held_addresses_by_key
    ON staged_held_addresses (account_id, load_id, held_address_id);

CREATE UNLOGGED TABLE staged_letters (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    letter_id BIGINT,
    kind TEXT COLLATE "C",
    subscription_id BIGINT,
    subscriber_id BIGINT,
    written_on TEXT COLLATE "C",
    by_email BIGINT
);
CREATE INDEX staged_letters_by_key
    ON staged_letters (account_id, load_id, letter_id);

CREATE UNLOGGED TABLE staged_page_settings (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    setting_id BIGINT,
    name TEXT COLLATE "C",
    value TEXT COLLATE "C"
);
CREATE INDEX staged_page_settings_by_key
    ON staged_page_settings (account_id, load_id, setting_id);

CREATE UNLOGGED TABLE staged_reader_bundles (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    bundle_id BIGINT,
    renew BIGINT,
    buy BIGINT,
    gift BIGINT
);
CREATE INDEX staged_reader_bundles_by_key
    ON staged_reader_bundles (account_id, load_id, bundle_id);

CREATE UNLOGGED TABLE staged_reader_changes (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    reader_change_id BIGINT,
    subscriber_id BIGINT,
    subscription_id BIGINT,
    kind TEXT COLLATE "C",
    made_at TEXT COLLATE "C",
    before TEXT COLLATE "C",
    after TEXT COLLATE "C",
    undone_at TEXT COLLATE "C",
    undone_by TEXT COLLATE "C"
);
CREATE INDEX staged_reader_changes_by_key
    ON staged_reader_changes (account_id, load_id, reader_change_id);

CREATE UNLOGGED TABLE staged_reader_consents (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    reader_consent_id BIGINT,
    subscriber_id BIGINT,
    purpose TEXT COLLATE "C",
    given_at TEXT COLLATE "C",
    ended_at TEXT COLLATE "C"
);
CREATE INDEX staged_reader_consents_by_key
    ON staged_reader_consents (account_id, load_id, reader_consent_id);

CREATE UNLOGGED TABLE staged_reader_requests (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    reader_request_id BIGINT,
    subscriber_id BIGINT,
    subscription_id BIGINT,
    issue_id BIGINT,
    kind TEXT COLLATE "C",
    text TEXT COLLATE "C",
    made_at TEXT COLLATE "C",
    answered_at TEXT COLLATE "C",
    answered_by TEXT COLLATE "C"
);
CREATE INDEX staged_reader_requests_by_key
    ON staged_reader_requests (account_id, load_id, reader_request_id);

CREATE UNLOGGED TABLE staged_qualification_forms (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    publication_id BIGINT,
    months BIGINT,
    fills TEXT COLLATE "C",
    type TEXT COLLATE "C",
    agreed_text TEXT COLLATE "C"
);
CREATE INDEX staged_qualification_forms_by_key
    ON staged_qualification_forms (account_id, load_id, publication_id);

CREATE UNLOGGED TABLE staged_qualification_questions (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    publication_id BIGINT,
    field_id BIGINT,
    position BIGINT,
    required BIGINT,
    allow_other BIGINT
);
CREATE INDEX staged_qualification_questions_by_key
    ON staged_qualification_questions (account_id, load_id, publication_id, field_id);

CREATE UNLOGGED TABLE staged_audit_classes (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    audit_class_id BIGINT,
    publication_id BIGINT,
    position BIGINT,
    code TEXT COLLATE "C",
    name TEXT COLLATE "C",
    served BIGINT,
    quota BIGINT
);
CREATE INDEX staged_audit_classes_by_key
    ON staged_audit_classes (account_id, load_id, audit_class_id);

CREATE UNLOGGED TABLE staged_audit_class_conditions (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    audit_class_id BIGINT,
    field_id BIGINT,
    option_ids TEXT COLLATE "C"
);
CREATE INDEX staged_audit_class_conditions_by_key
    ON staged_audit_class_conditions (account_id, load_id, audit_class_id, field_id);

CREATE UNLOGGED TABLE staged_request_types (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    request_type_id BIGINT,
    code TEXT COLLATE "C",
    name TEXT COLLATE "C",
    position BIGINT,
    is_request BIGINT
);
CREATE INDEX staged_request_types_by_key
    ON staged_request_types (account_id, load_id, request_type_id);

CREATE UNLOGGED TABLE staged_qualifications (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    qualification_id BIGINT,
    subscriber_id BIGINT,
    publication_id BIGINT,
    subscription_id BIGINT,
    qualified_on TEXT COLLATE "C",
    valid_until TEXT COLLATE "C",
    request_type TEXT COLLATE "C",
    audit_class_id BIGINT,
    new_class_id BIGINT,
    disqualified BIGINT,
    answers TEXT COLLATE "C",
    taken_by TEXT COLLATE "C",
    evidence TEXT COLLATE "C",
    external_reference TEXT COLLATE "C",
    recorded_at TEXT COLLATE "C"
);
CREATE INDEX staged_qualifications_by_key
    ON staged_qualifications (account_id, load_id, qualification_id);

CREATE UNLOGGED TABLE staged_qualified_subscriptions (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscription_id BIGINT,
    publication_id BIGINT,
    qualification_id BIGINT,
    audit_class_id BIGINT,
    class_position BIGINT,
    request_position BIGINT,
    qualified_on TEXT COLLATE "C",
    valid_until TEXT COLLATE "C",
    served BIGINT,
    lapsed_by BIGINT
);
CREATE INDEX staged_qualified_subscriptions_by_key
    ON staged_qualified_subscriptions (account_id, load_id, subscription_id);

CREATE UNLOGGED TABLE staged_audit_figures (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    issue_id BIGINT,
    position BIGINT,
    part TEXT COLLATE "C",
    key1 TEXT COLLATE "C",
    key2 TEXT COLLATE "C",
    key3 TEXT COLLATE "C",
    subscriptions BIGINT,
    copies BIGINT,
    printed BIGINT,
    digital BIGINT
);
CREATE INDEX staged_audit_figures_by_key
    ON staged_audit_figures (account_id, load_id, issue_id, position);

CREATE UNLOGGED TABLE staged_requalification_efforts (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    publication_id BIGINT,
    effort BIGINT,
    days_before BIGINT,
    way TEXT COLLATE "C"
);
CREATE INDEX staged_requalification_efforts_by_key
    ON staged_requalification_efforts (account_id, load_id, publication_id, effort);

CREATE UNLOGGED TABLE staged_requalifications_sent (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    qualification_id BIGINT,
    effort BIGINT,
    sent_on TEXT COLLATE "C"
);
CREATE INDEX staged_requalifications_sent_by_key
    ON staged_requalifications_sent (account_id, load_id, qualification_id, effort);

CREATE UNLOGGED TABLE staged_erasures (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    present BIGINT NOT NULL,
    subscriber_id BIGINT,
    erased_at TEXT COLLATE "C"
);
CREATE INDEX staged_erasures_by_key
    ON staged_erasures (account_id, load_id, subscriber_id);

-- The problems of the staged rows, in the order of their numbers.
CREATE UNLOGGED TABLE staged_problems (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    number BIGINT NOT NULL,
    file BIGINT NOT NULL,
    line BIGINT NOT NULL,
    "column" TEXT COLLATE "C" NOT NULL,
    sentence TEXT COLLATE "C" NOT NULL
);
CREATE INDEX staged_problems_by_row ON staged_problems (account_id, load_id, file, line);

-- Lists of keys that one step of a load finds and a later one uses. other, kind, text: what belongs
-- to a key of the list.
CREATE UNLOGGED TABLE staged_keys (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    key BIGINT NOT NULL,
    other BIGINT,
    kind TEXT COLLATE "C",
    text TEXT COLLATE "C"
);
CREATE INDEX staged_keys_by_key ON staged_keys (account_id, load_id, list, key, other);

-- The new natural keys of a load. key_text: the key as a message shows it.
CREATE UNLOGGED TABLE staged_natural_keys (
    account_id BIGINT NOT NULL,
    load_id BIGINT NOT NULL,
    table_name TEXT COLLATE "C" NOT NULL,
    key_digest TEXT COLLATE "C" NOT NULL,
    record_id BIGINT NOT NULL,
    key_text TEXT COLLATE "C" NOT NULL
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
