-- What servers may do; applied again by each `masthead database migrate` and `distribute`.

-- The history of the server that this runs on: its system identifier, the database, and the
-- server's timeline. Another timeline begins when a replica is promoted and when a backup is
-- recovered to a point in time, another database when a dump is restored. NULL on a replica.
CREATE OR REPLACE FUNCTION history() RETURNS TEXT
    LANGUAGE SQL VOLATILE
    BEGIN ATOMIC
        SELECT CASE WHEN NOT pg_is_in_recovery() THEN
            c.system_identifier || '/' || d.oid || '/'
            || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
        FROM pg_control_system() AS c, pg_database AS d WHERE d.datname = current_database();
    END;

-- The questions that a server has before it has an account, or beyond it. Each is a function with
-- the rights of the tables' owner, and tells no more than this.
CREATE OR REPLACE FUNCTION accounts_for_credentials(first TEXT, second TEXT)
    RETURNS TABLE (
        key_hash TEXT, login_hash TEXT, is_open BIGINT, ends_at BIGINT, account_id BIGINT,
        is_master BIGINT, hide_password_md5 BIGINT, renewal_code_login BIGINT,
        time_zone TEXT, partner_id BIGINT, partner TEXT, operations TEXT, rate BIGINT
    )
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT
            k.key_hash, k.login_hash, a.active * a.api_active, k.ends_at, a.account_id,
            CASE WHEN k.partner_id IS NULL THEN a.is_master ELSE 0 END, a.hide_password_md5,
            a.renewal_code_login, a.time_zone, k.partner_id, p.name, p.operations, p.rate
        FROM credentials AS k JOIN accounts AS a ON a.account_id = k.account_id
        LEFT JOIN partners AS p ON p.account_id = k.account_id AND p.partner_id = k.partner_id
        WHERE k.key_hash IN (first, second);
    END;
CREATE OR REPLACE FUNCTION accounts_to_stamp(idle_before BIGINT)
    RETURNS TABLE (account_id BIGINT, is_idle BOOLEAN)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT c.account_id, FALSE FROM commits AS c WHERE c.visible_at IS NULL
        UNION
        SELECT l.account_id, TRUE FROM account_locks AS l
        WHERE l.kind = 'stamps' AND idle_before > (
            SELECT max(c.visible_at) FROM commits AS c WHERE c.account_id = l.account_id);
    END;
CREATE OR REPLACE FUNCTION histories()
    RETURNS TABLE (history TEXT, account_id BIGINT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT e.history, min(e.account_id) FROM epochs AS e GROUP BY e.history;
    END;
CREATE OR REPLACE FUNCTION accounts_with_history(known TEXT)
    RETURNS TABLE (account_id BIGINT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT e.account_id FROM epochs AS e WHERE e.history IS NOT DISTINCT FROM known;
    END;
CREATE OR REPLACE FUNCTION last_loads()
    RETURNS TABLE (account_id BIGINT, ended_at BIGINT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT l.account_id, max(l.ended_at) FROM loads AS l WHERE l.outcome = 'good'
        GROUP BY l.account_id;
    END;
-- The account of a site of the readers' pages, and all sites: their server knows the site of a
-- request before it knows the account.
CREATE OR REPLACE FUNCTION account_of_site(site TEXT) RETURNS BIGINT
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT min(p.account_id) FROM page_settings AS p WHERE p.name = 'site' AND p.value = site;
    END;
CREATE OR REPLACE FUNCTION sites() RETURNS TABLE (site TEXT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT DISTINCT p.value FROM page_settings AS p
        WHERE p.name = 'site' AND p.value IS NOT NULL;
    END;

-- The public keys of entitlements, which everybody may read.
CREATE OR REPLACE FUNCTION published_entitlement_keys(at BIGINT)
    RETURNS TABLE (public_key TEXT)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT k.public_key FROM entitlement_keys AS k
        WHERE k.ends_at IS NULL OR k.ends_at > at ORDER BY k.key_id;
    END;

-- The role of servers, one for each database. It owns nothing. It has no password: it can log in as
-- the rules of the server for connections (pg_hba.conf) allow.
DO $$
DECLARE
    server NAME := current_database() || '_server';
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = server) THEN
        EXECUTE format('CREATE ROLE %I LOGIN', server);
    END IF;
    EXECUTE format(
        'GRANT SELECT ON migrations, accounts, secret_key, heartbeat, nodes, account_locks, '
        'epochs, '
        'login_failures, login_successes, credential_uses, request_counts, commits, publications, '
        'issues, '
        'subscribers, addresses, '
        'subscriptions, subscription_kinds, subscription_issues, custom_fields, '
        'custom_field_options, custom_field_answers, orders, order_items, purchases, '
        'list_downloads, mailing_list_entries, deletions, erasures, '
        'entitlement_keys, entitlement_codes, suspensions TO %I', server);
    -- What decides whether the next issue waits for a payment (rules, "What a reader may read").
    EXECUTE format(
        'GRANT SELECT (account_id, term_id, subscription_id, issues, issues_left, price, paid_on) '
        'ON terms TO %I', server);
    EXECUTE format(
        'GRANT SELECT (account_id, subscription_id, valid_until, served, lapsed_by) '
        'ON qualified_subscriptions TO %I', server);
    EXECUTE format('GRANT INSERT, DELETE ON entitlement_codes TO %I', server);
    -- To stamp commits and to count: nothing of this is an account's data. The digest that a login
    -- replaces is the one thing that is.
    EXECUTE format('GRANT UPDATE (beat_at) ON heartbeat TO %I', server);
    EXECUTE format('GRANT UPDATE (kind) ON account_locks TO %I', server);
    EXECUTE format(
        'GRANT INSERT (account_id, commit_id), UPDATE (visible_at) ON commits TO %I', server);
    EXECUTE format('GRANT UPDATE (epoch_at, history) ON epochs TO %I', server);
    EXECUTE format('GRANT UPDATE (password_hash) ON subscribers TO %I', server);
    EXECUTE format('GRANT INSERT, UPDATE, DELETE ON login_failures TO %I', server);
    EXECUTE format(
        'GRANT INSERT, UPDATE (succeeded_at), DELETE ON login_successes TO %I', server);
    EXECUTE format('GRANT INSERT, UPDATE (used_at) ON credential_uses TO %I', server);
    EXECUTE format(
        'GRANT INSERT, UPDATE (requests, errors, server_errors, last_at), DELETE '
        'ON request_counts TO %I', server);
    EXECUTE 'REVOKE ALL ON FUNCTION accounts_for_credentials, accounts_to_stamp, histories, '
        'accounts_with_history, last_loads, account_of_site, sites, published_entitlement_keys '
        'FROM PUBLIC';
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION accounts_for_credentials, accounts_to_stamp, histories, '
        'accounts_with_history, last_loads, published_entitlement_keys TO %I', server);
END $$;
