-- Whether a renewal code with a postal code is a login.
ALTER TABLE accounts ADD COLUMN renewal_code_login BIGINT NOT NULL DEFAULT 1
    CHECK (renewal_code_login IN (0, 1));
DROP FUNCTION accounts_for_keys;
CREATE FUNCTION accounts_for_keys(first TEXT, second TEXT)
    RETURNS TABLE (
        api_key TEXT, api_login TEXT, is_open BIGINT, account_id BIGINT, is_master BIGINT,
        hide_password_md5 BIGINT, renewal_code_login BIGINT
    )
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT
            a.api_key, a.api_login, a.active * a.api_active, a.account_id, a.is_master,
            a.hide_password_md5, a.renewal_code_login
        FROM accounts AS a WHERE a.api_key IN (first, second);
    END;

-- The tally: failed logins. login, guess: keyed hashes. failed_at: microseconds since 1970 in UTC.
CREATE TABLE login_failures (
    account_id BIGINT NOT NULL,
    login TEXT COLLATE "C" NOT NULL,
    guess TEXT COLLATE "C" NOT NULL,
    failed_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, guess)
);
CREATE INDEX login_failures_by_login ON login_failures (account_id, login, failed_at);
CREATE INDEX login_failures_by_time ON login_failures (account_id, failed_at);

-- A server has no right to that table: it can ask when the newest failures but so many were, and
-- add one.
CREATE FUNCTION nth_login_failures(
    account BIGINT, failed_login TEXT, login_since BIGINT, account_since BIGINT, until_now BIGINT,
    login_offset BIGINT, account_offset BIGINT
)
    RETURNS TABLE (by_login BIGINT, by_account BIGINT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT (
            SELECT f.failed_at FROM login_failures AS f
            WHERE f.account_id = account AND f.login = failed_login
                AND f.failed_at > login_since AND f.failed_at <= until_now
            ORDER BY f.failed_at DESC LIMIT 1 OFFSET login_offset
        ), (
            SELECT f.failed_at FROM login_failures AS f
            WHERE f.account_id = account
                AND f.failed_at > account_since AND f.failed_at <= until_now
            ORDER BY f.failed_at DESC LIMIT 1 OFFSET account_offset
        );
    END;
CREATE FUNCTION count_login_failure(
    account BIGINT, failed_login TEXT, failed_guess TEXT, login_since BIGINT, account_since BIGINT,
    at BIGINT
)
    RETURNS VOID
    LANGUAGE SQL VOLATILE SECURITY DEFINER
    BEGIN ATOMIC
        DELETE FROM login_failures AS f
        WHERE f.account_id = account AND f.failed_at <= account_since;
        INSERT INTO login_failures AS f (account_id, login, guess, failed_at)
        VALUES (account, failed_login, failed_guess, at)
        ON CONFLICT (account_id, guess) DO UPDATE SET failed_at = excluded.failed_at
        WHERE f.failed_at <= login_since OR f.failed_at > at;
    END;
REVOKE ALL ON FUNCTION accounts_for_keys, nth_login_failures, count_login_failure FROM PUBLIC;
GRANT EXECUTE ON FUNCTION accounts_for_keys, nth_login_failures, count_login_failure
    TO masthead_server;
