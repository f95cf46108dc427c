-- The counters of an embedded database: a file of its own, so that a load, which holds the
-- database's one writer, delays no login. On PostgreSQL these tables are in the database.

-- login, guess: keyed hashes. failed_at: microseconds since 1970 in UTC. kind: what of an account
-- is counted together, see logins.py.
CREATE TABLE IF NOT EXISTS login_failures (
    account_id INTEGER NOT NULL,
    login TEXT NOT NULL,
    guess TEXT NOT NULL,
    failed_at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (account_id, guess)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS login_failures_by_login
    ON login_failures (account_id, login, failed_at);
-- An account's whole hour is read by it.
CREATE INDEX IF NOT EXISTS login_failures_by_time ON login_failures (account_id, failed_at, kind);

-- Emails with which readers have logged in, by keyed hash, and when last.
CREATE TABLE IF NOT EXISTS login_successes (
    account_id INTEGER NOT NULL,
    login TEXT NOT NULL,
    succeeded_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, login)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS login_successes_by_time
    ON login_successes (account_id, succeeded_at);

-- When each pair of an account was last used, in microseconds since 1970 in UTC.
CREATE TABLE IF NOT EXISTS credential_uses (
    account_id INTEGER NOT NULL,
    key_hash TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, key_hash)
) STRICT, WITHOUT ROWID;

-- What partners asked, by day (in UTC), partner and operation. partner: the name, '' for the
-- account's own credentials. server_errors: those of the errors whose status is 500 or more.
CREATE TABLE IF NOT EXISTS request_counts (
    account_id INTEGER NOT NULL,
    day TEXT NOT NULL,
    partner TEXT NOT NULL,
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    server_errors INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, partner, operation)
) STRICT, WITHOUT ROWID;

-- Who is signed in to the console. token_hash: SHA-256 of the token that the browser has.
CREATE TABLE IF NOT EXISTS operator_sessions (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    operator_id INTEGER NOT NULL,
    sessions_from INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, token_hash)
) STRICT, WITHOUT ROWID;

-- Who is signed in to the readers' pages. token_hash: SHA-256 of the token that the browser has.
-- login_mark: a keyed hash of what the reader signs in with; another one ends the session.
CREATE TABLE IF NOT EXISTS reader_sessions (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    login_mark TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, token_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reader_sessions_by_subscriber
    ON reader_sessions (account_id, subscriber_id);
CREATE INDEX IF NOT EXISTS reader_sessions_by_time ON reader_sessions (account_id, used_at);

-- The links that were sent to readers. browser_hash: SHA-256 of the token of the asking browser.
CREATE TABLE IF NOT EXISTS sign_in_links (
    account_id INTEGER NOT NULL,
    token_hash TEXT NOT NULL,
    browser_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('sign_in', 'password')),
    made_at INTEGER NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (account_id, token_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sign_in_links_by_subscriber
    ON sign_in_links (account_id, subscriber_id);
CREATE INDEX IF NOT EXISTS sign_in_links_by_time ON sign_in_links (account_id, made_at);

-- One-time codes of readers for the sites of partners. code_hash: a keyed hash.
CREATE TABLE IF NOT EXISTS entitlement_codes (
    account_id INTEGER NOT NULL,
    code_hash TEXT NOT NULL,
    subscriber_id INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, code_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entitlement_codes_by_subscriber
    ON entitlement_codes (account_id, subscriber_id, made_at);
CREATE INDEX IF NOT EXISTS entitlement_codes_by_time ON entitlement_codes (account_id, made_at);
