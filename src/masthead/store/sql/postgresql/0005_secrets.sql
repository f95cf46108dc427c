-- From here on accounts.api_key and accounts.api_login are sealed with the secret key, which is not
-- in the database (a step in migrations.py seals those that there are), and credentials are found
-- by keyed hashes.
DROP INDEX accounts_by_api_key;

-- All pairs that open an account; ends_at: of one that was replaced, in microseconds since 1970 in
-- UTC. login_hash is NULL where an account has no api_login: that opens nothing.
CREATE TABLE api_keys (
    key_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    login_hash TEXT COLLATE "C",
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    ends_at BIGINT
);
CREATE INDEX api_keys_by_account ON api_keys (account_id);

-- By which the right secret key is known.
CREATE TABLE secret_key (fingerprint TEXT COLLATE "C" NOT NULL PRIMARY KEY);
GRANT SELECT ON secret_key TO masthead_server;

DROP FUNCTION accounts_for_keys;
CREATE FUNCTION accounts_for_keys(first TEXT, second TEXT)
    RETURNS TABLE (
        key_hash TEXT, login_hash TEXT, is_open BIGINT, ends_at BIGINT, account_id BIGINT,
        is_master BIGINT, hide_password_md5 BIGINT, renewal_code_login BIGINT
    )
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT
            k.key_hash, k.login_hash, a.active * a.api_active, k.ends_at, a.account_id,
            a.is_master, a.hide_password_md5, a.renewal_code_login
        FROM api_keys AS k JOIN accounts AS a ON a.account_id = k.account_id
        WHERE k.key_hash IN (first, second);
    END;

-- The tally, too: when each pair was last used, in microseconds since 1970 in UTC.
CREATE TABLE key_uses (
    account_id BIGINT NOT NULL,
    key_hash TEXT COLLATE "C" NOT NULL,
    used_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, key_hash)
);
CREATE FUNCTION note_key_use(account BIGINT, used_key TEXT, at BIGINT)
    RETURNS VOID
    LANGUAGE SQL VOLATILE SECURITY DEFINER
    BEGIN ATOMIC
        INSERT INTO key_uses AS u (account_id, key_hash, used_at) VALUES (account, used_key, at)
        ON CONFLICT (account_id, key_hash) DO UPDATE SET used_at = excluded.used_at
        WHERE u.used_at < excluded.used_at;
    END;
CREATE FUNCTION key_uses_of(account BIGINT)
    RETURNS TABLE (key_hash TEXT, used_at BIGINT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT u.key_hash, u.used_at FROM key_uses AS u WHERE u.account_id = account;
    END;
REVOKE ALL ON FUNCTION accounts_for_keys, note_key_use, key_uses_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION accounts_for_keys, note_key_use, key_uses_of TO masthead_server;
