-- From here on accounts.api_key and accounts.api_login are sealed with the secret key, which is not
-- in the database (a step in migrations.py seals those that there are), and credentials are found
-- by keyed hashes.
DROP INDEX accounts_by_api_key;

-- All pairs that open an account; ends_at: of one that was replaced, in microseconds since 1970 in
-- UTC. login_hash is NULL where an account has no api_login: that opens nothing.
CREATE TABLE api_keys (
    key_hash TEXT NOT NULL PRIMARY KEY,
    login_hash TEXT,
    account_id INTEGER NOT NULL REFERENCES accounts (account_id),
    ends_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_account ON api_keys (account_id);

-- By which the right secret key is known.
CREATE TABLE secret_key (fingerprint TEXT NOT NULL PRIMARY KEY) STRICT;
