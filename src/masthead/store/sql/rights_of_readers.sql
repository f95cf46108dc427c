-- What the readers' pages may do; applied again by each `masthead database migrate` and
-- `distribute`, after the rights of servers.
--
-- A transaction of the role speaks for one reader of one account (masthead.subscriber_id,
-- masthead.account_id). Policies show it that reader's rows, and the rows of a
-- recipient that the same transaction has added for a gift. In a transaction without a reader, each
-- query of readers' tables is an error. The reader 0 is nobody: before a sign-in, the login is
-- looked for, and nothing of the books is written.
--
-- Policies of distributed tables can have no subqueries, so functions with the rights of the
-- tables' owner follow the references. They tell the role no more than whether a row is its own.
-- Their bodies are text, since Citus refuses a table whose policies depend on the table itself.
CREATE OR REPLACE FUNCTION is_own_reader(account BIGINT, reader BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN reader = current_setting('masthead.subscriber_id')::BIGINT OR EXISTS (
        SELECT 1 FROM subscribers AS s
        WHERE s.account_id = account AND s.subscriber_id = reader
            AND s.xmin = pg_current_xact_id_if_assigned()::xid);
END $$;
CREATE OR REPLACE FUNCTION is_own_order(account BIGINT, ordered BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM orders AS o WHERE o.account_id = account AND o.order_id = ordered
            AND o.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT);
END $$;
-- A subscription that the reader gave is the reader's too: an order of the reader paid for a term.
CREATE OR REPLACE FUNCTION is_own_subscription(account BIGINT, subscription BIGINT)
    RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM subscriptions AS s
        WHERE s.account_id = account AND s.subscription_id = subscription
            AND (s.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT
                OR s.xmin = pg_current_xact_id_if_assigned()::xid))
    OR EXISTS (
        SELECT 1 FROM terms AS t
        JOIN order_items AS i
            ON i.account_id = account AND i.order_item_id = t.order_item_id
        JOIN orders AS o ON o.account_id = account AND o.order_id = i.order_id
        WHERE t.account_id = account AND t.subscription_id = subscription
            AND o.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT);
END $$;
CREATE OR REPLACE FUNCTION is_own_term(account BIGINT, term BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM terms AS t WHERE t.account_id = account AND t.term_id = term
            AND is_own_subscription(account, t.subscription_id));
END $$;
CREATE OR REPLACE FUNCTION is_own_invoice(account BIGINT, invoice BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM invoices AS i WHERE i.account_id = account AND i.invoice_id = invoice
            AND i.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT);
END $$;
CREATE OR REPLACE FUNCTION is_own_payment(account BIGINT, payment BIGINT) RETURNS BOOLEAN
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1 FROM payments AS p WHERE p.account_id = account AND p.payment_id = payment
            AND p.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT);
END $$;

-- What an operation must know beyond the reader's rows: which id, number and renewal code is free.
CREATE OR REPLACE FUNCTION greatest_id(account BIGINT, name TEXT, of_entity TEXT)
    RETURNS BIGINT
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    key NAME;
    found BIGINT;
BEGIN
    IF account <> current_setting('masthead.account_id')::BIGINT THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for another account';
    END IF;
    SELECT a.attname INTO STRICT key
        FROM pg_constraint AS k
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[2]
        WHERE k.contype = 'p' AND k.conrelid = to_regclass(quote_ident(name))
            AND a.atttypid = 'bigint'::REGTYPE;
    EXECUTE format('SELECT max(%I) FROM %I WHERE account_id = $1', key, name)
        INTO found USING account;
    RETURN greatest(
        found,
        (SELECT n.record_id FROM natural_keys AS n
            WHERE n.account_id = account AND n.table_name = name AND n.key_digest = ''),
        (SELECT max(d.record_id) FROM deletions AS d
            WHERE d.account_id = account AND d.entity = of_entity));
END $$;
CREATE OR REPLACE FUNCTION greatest_number(account BIGINT, of_series TEXT) RETURNS BIGINT
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN coalesce((
        SELECT max(i.number) FROM invoices AS i
        WHERE i.account_id = account AND i.series = of_series
            AND account = current_setting('masthead.account_id')::BIGINT), 0);
END $$;
CREATE OR REPLACE FUNCTION taken_codes(account BIGINT, codes TEXT) RETURNS SETOF TEXT
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT s.renewal_code_lower FROM subscribers AS s
        WHERE s.account_id = account AND s.renewal_code_lower = ANY (string_to_array(codes, ' '))
            AND account = current_setting('masthead.account_id')::BIGINT;
END $$;

-- And the name of a recipient, as it is on the address of the reader's gift.
CREATE OR REPLACE FUNCTION recipient_of(account BIGINT, purchase BIGINT) RETURNS TEXT
    LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN (
        SELECT coalesce(nullif(concat_ws(' ', a.first_name, a.last_name), ''), a.company)
        FROM purchases AS p
        JOIN addresses AS a ON a.account_id = account AND a.address_id = p.shipping_address_id
        WHERE p.account_id = account AND p.purchase_id = purchase AND p.is_gift = 1
            AND p.subscriber_id = current_setting('masthead.subscriber_id')::BIGINT
            AND account = current_setting('masthead.account_id')::BIGINT);
END $$;

-- The role, one for each database. It owns nothing and has no password, like that of servers.
DO $$
DECLARE
    readers NAME := current_database() || '_readers';
    servers NAME := current_database() || '_server';
    of_account TEXT := 'account_id = current_setting(''masthead.account_id'')::BIGINT';
    own TEXT := 'subscriber_id = current_setting(''masthead.subscriber_id'')::BIGINT';
    nobody TEXT := 'current_setting(''masthead.subscriber_id'') = ''0''';
    functions TEXT[] := ARRAY['is_own_reader', 'is_own_order', 'is_own_subscription', 'is_own_term',
        'is_own_invoice', 'is_own_payment', 'greatest_id', 'greatest_number', 'taken_codes',
        'recipient_of'];
    each TEXT;
    wall RECORD;
BEGIN
    FOREACH each IN ARRAY functions LOOP
        -- So no temporary table of the role stands for a table in them.
        EXECUTE format(
            'ALTER FUNCTION %I SET search_path = %I, pg_temp', each, current_schema());
        IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
            -- They ask about rows of the same account, which are on the same node.
            EXECUTE format(
                'ALTER FUNCTION %I SET citus.allow_nested_distributed_execution = on', each);
        END IF;
        EXECUTE format('REVOKE ALL ON FUNCTION %I FROM PUBLIC', each);
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = readers) THEN
        EXECUTE format('CREATE ROLE %I LOGIN', readers);
    END IF;
    -- The walls come before the rights. Citus knows no restrictive policies, so that of servers
    -- must not be one of this role too.
    FOR wall IN
        SELECT c.relname::TEXT AS name, p.policyname IS NOT NULL AS is_there,
            coalesce(p.qual, CASE WHEN c.relname <> 'accounts' THEN of_account ELSE
                of_account || ' OR current_setting(''masthead.is_master'', TRUE) = ''on''' END
            ) AS shown
        FROM pg_class AS c
        LEFT JOIN pg_policies AS p
            ON p.schemaname = current_schema() AND p.tablename = c.relname
            AND p.policyname = 'own_account'
        WHERE c.relnamespace = current_schema()::REGNAMESPACE AND c.relkind IN ('r', 'p')
            AND c.relrowsecurity AND c.relname NOT IN ('audit', 'staged_keys')
            AND p.roles IS DISTINCT FROM ARRAY[servers]
    LOOP
        IF wall.is_there THEN
            EXECUTE format('DROP POLICY own_account ON %I', wall.name);
        END IF;
        EXECUTE format(
            'CREATE POLICY own_account ON %I TO %I USING (%s)', wall.name, servers, wall.shown);
    END LOOP;
    FOR wall IN
        SELECT w.*, p.policyname IS NOT NULL AS is_there FROM (
            VALUES
            ('subscribers', 'is_own_reader(account_id, subscriber_id)', 'TRUE'),
            ('addresses', 'is_own_reader(account_id, subscriber_id)', NULL),
            ('subscriptions',
                own || ' OR is_own_subscription(account_id, subscription_id)',
                'is_own_reader(account_id, subscriber_id) '
                'OR is_own_subscription(account_id, subscription_id)'),
            ('custom_field_answers', own, NULL),
            ('orders', own, NULL),
            ('purchases', own, NULL),
            ('notes', own, NULL),
            ('complaints', own, NULL),
            ('payer_details', own, NULL),
            ('invoices', own, NULL),
            ('payments', own, NULL),
            ('bank_entries', own, NULL),
            ('mandates', own, NULL),
            ('claims', own, NULL),
            ('reminders', own, NULL),
            ('renewal_consents', own, NULL),
            ('mails', own, NULL),
            ('held_addresses', own, NULL),
            ('letters', own, NULL),
            ('erasures', own, NULL),
            ('reader_changes', own, NULL),
            ('reader_consents', own, NULL),
            ('reader_requests', own, NULL),
            ('qualifications', own, NULL),
            ('entitlement_codes', own, NULL),
            -- Before a sign-in, by the hash of a token.
            ('reader_sessions', own || ' OR ' || nobody, NULL),
            ('sign_in_links', own || ' OR ' || nobody, NULL),
            ('order_items', 'is_own_order(account_id, order_id)', NULL),
            ('terms', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('subscription_issues', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('suspensions', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('temporary_addresses', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('replacements', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('cancellations', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('renewals_sent', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('announced_renewals', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('mailing_list_entries', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('qualified_subscriptions', 'is_own_subscription(account_id, subscription_id)', NULL),
            ('revenue', 'is_own_term(account_id, term_id)', NULL),
            ('cancelled_terms', 'is_own_term(account_id, term_id)', NULL),
            ('invoice_lines', 'is_own_invoice(account_id, invoice_id)', NULL),
            ('allocations', 'is_own_invoice(account_id, invoice_id)', NULL),
            ('journal_lines',
                'is_own_invoice(account_id, invoice_id) OR is_own_payment(account_id, payment_id)',
                NULL),
            -- Of all readers.
            ('accounts', 'TRUE', NULL),
            ('account_locks', 'TRUE', NULL),
            ('audit_classes', 'TRUE', NULL),
            ('audit_class_conditions', 'TRUE', NULL),
            ('billing', 'TRUE', NULL),
            ('billing_settings', 'TRUE', NULL),
            ('books', 'TRUE', NULL),
            ('bundle_lines', 'TRUE', NULL),
            ('bundles', 'TRUE', NULL),
            ('cancellation_reasons', 'TRUE', NULL),
            ('classes', 'TRUE', NULL),
            ('closed_months', 'TRUE', NULL),
            ('commits', 'TRUE', NULL),
            ('custom_field_options', 'TRUE', NULL),
            ('custom_fields', 'TRUE', NULL),
            ('deletions', 'TRUE', NULL),
            ('epochs', 'TRUE', NULL),
            ('issues', 'TRUE', NULL),
            ('list_downloads', 'TRUE', NULL),
            ('login_failures', 'TRUE', NULL),
            ('login_successes', 'TRUE', NULL),
            ('page_settings', 'TRUE', NULL),
            ('products', 'TRUE', NULL),
            ('publications', 'TRUE', NULL),
            ('qualification_forms', 'TRUE', NULL),
            ('qualification_questions', 'TRUE', NULL),
            ('reader_bundles', 'TRUE', NULL),
            ('reminder_levels', 'TRUE', NULL),
            ('renewal_efforts', 'TRUE', NULL),
            ('request_types', 'TRUE', NULL),
            ('saved_forms', 'TRUE', NULL),
            ('shipping_prices', 'TRUE', NULL),
            ('subscription_kinds', 'TRUE', NULL),
            ('tax_rates', 'TRUE', NULL)
        ) AS w (name, shown, written)
        LEFT JOIN pg_policies AS p
            ON p.schemaname = current_schema() AND p.tablename = w.name
            AND p.policyname = 'own_reader'
        WHERE p.roles IS DISTINCT FROM ARRAY[readers]
    LOOP
        -- In a restored database, they are those of another database's role.
        IF wall.is_there THEN
            EXECUTE format('DROP POLICY own_reader ON %I', wall.name);
        END IF;
        EXECUTE format(
            'CREATE POLICY own_reader ON %I TO %I USING (%s AND (%s)) WITH CHECK (%s AND (%s))',
            wall.name, readers, of_account, wall.shown,
            of_account, coalesce(wall.written, wall.shown));
    END LOOP;
    -- Before a sign-in, the check of a login looks for whose it is, and writes nothing.
    FOR wall IN
        SELECT w.name, p.policyname IS NOT NULL AS is_there
        FROM (VALUES ('subscribers'), ('addresses'), ('subscriptions')) AS w (name)
        LEFT JOIN pg_policies AS p
            ON p.schemaname = current_schema() AND p.tablename = w.name
            AND p.policyname = 'signing_in'
        WHERE p.roles IS DISTINCT FROM ARRAY[readers]
    LOOP
        IF wall.is_there THEN
            EXECUTE format('DROP POLICY signing_in ON %I', wall.name);
        END IF;
        EXECUTE format(
            'CREATE POLICY signing_in ON %I FOR SELECT TO %I USING (%s AND %s)',
            wall.name, readers, of_account, nobody);
    END LOOP;
    -- Of the audit log, the role may only add entries of its reader; of the keys that operations
    -- keep for a moment, it sees those of its transaction.
    FOR wall IN
        SELECT w.*, p.policyname IS NOT NULL AS is_there, c.relrowsecurity FROM (
            VALUES
            ('audit', 'FALSE',
                of_account || ' '
                'AND user_name = ''reader '' || current_setting(''masthead.subscriber_id'')'),
            ('staged_keys',
                of_account || ' AND xmin = pg_current_xact_id_if_assigned()::xid', of_account)
        ) AS w (name, shown, written)
        JOIN pg_class AS c ON c.oid = to_regclass(w.name)
        LEFT JOIN pg_policies AS p
            ON p.schemaname = current_schema() AND p.tablename = w.name
            AND p.policyname = 'own_rows'
        WHERE p.roles IS DISTINCT FROM ARRAY[readers]
    LOOP
        IF NOT wall.relrowsecurity THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', wall.name);
        END IF;
        IF wall.is_there THEN
            EXECUTE format('DROP POLICY own_rows ON %I', wall.name);
        END IF;
        EXECUTE format(
            'CREATE POLICY own_rows ON %I TO %I USING (%s) WITH CHECK (%s)',
            wall.name, readers, wall.shown, wall.written);
    END LOOP;
    -- What all readers of an account may know: its issues, prices and rules.
    EXECUTE format(
        'GRANT SELECT ON migrations, secret_key, epochs, commits, deletions, books, publications, '
        'list_downloads, issues, subscription_kinds, custom_fields, custom_field_options, classes, '
        'bundles, bundle_lines, products, cancellation_reasons, renewal_efforts, billing, '
        'billing_settings, tax_rates, shipping_prices, closed_months, reminder_levels, '
        'account_locks, login_failures, login_successes, saved_forms, page_settings, '
        'reader_bundles, qualification_forms, qualification_questions, audit_classes, '
        'audit_class_conditions, request_types TO %I', readers);
    EXECUTE format(
        'GRANT SELECT (account_id, company_name, website, active, api_active, plan, '
        'hide_password_md5, keep_password_md5, renewal_code_login, master_checkout, time_zone, '
        'currency) ON accounts TO %I', readers);
    -- What is the reader's.
    EXECUTE format(
        'GRANT SELECT ON subscribers, addresses, subscriptions, custom_field_answers, orders, '
        'purchases, notes, complaints, payer_details, invoices, payments, bank_entries, '
        'mandates, claims, '
        'reminders, renewal_consents, mails, held_addresses, letters, erasures, order_items, '
        'terms, subscription_issues, suspensions, temporary_addresses, replacements, '
        'cancellations, renewals_sent, announced_renewals, mailing_list_entries, revenue, '
        'cancelled_terms, invoice_lines, allocations, journal_lines, staged_keys, '
        'reader_changes, reader_consents, reader_requests, reader_sessions, sign_in_links, '
        'entitlement_codes, qualifications, qualified_subscriptions TO %I', readers);
    EXECUTE format(
        'GRANT INSERT ON subscribers, addresses, subscriptions, subscription_kinds, '
        'custom_field_answers, orders, order_items, terms, revenue, suspensions, '
        'temporary_addresses, replacements, complaints, cancellations, cancelled_terms, invoices, '
        'invoice_lines, allocations, journal_lines, renewal_consents, mails, letters, saved_forms, '
        'deletions, login_failures, login_successes, purchases, payer_details, '
        'staged_keys, audit, reader_changes, reader_consents, reader_requests, reader_sessions, '
        'sign_in_links, entitlement_codes, qualifications, qualified_subscriptions TO %I',
        readers);
    EXECUTE format(
        'GRANT INSERT (account_id, commit_id), UPDATE (visible_at) ON commits TO %I', readers);
    EXECUTE format(
        'GRANT UPDATE ON subscribers, addresses, subscriptions, custom_field_answers, terms, '
        'suspensions, temporary_addresses, cancellations, cancelled_terms, renewal_consents, '
        'orders, order_items, purchases, payer_details, mails, login_failures, deletions, '
        'qualified_subscriptions TO %I', readers);
    EXECUTE format('GRANT UPDATE (ended_at) ON reader_consents TO %I', readers);
    EXECUTE format('GRANT UPDATE (used_at) ON reader_sessions, sign_in_links TO %I', readers);
    EXECUTE format('GRANT UPDATE (kind) ON account_locks TO %I', readers);
    EXECUTE format('GRANT UPDATE (succeeded_at) ON login_successes TO %I', readers);
    EXECUTE format('GRANT UPDATE (open_cents) ON invoices TO %I', readers);
    EXECUTE format('GRANT UPDATE (left_cents) ON payments TO %I', readers);
    EXECUTE format('GRANT UPDATE (status, reason) ON announced_renewals TO %I', readers);
    EXECUTE format(
        'GRANT DELETE ON custom_field_answers, suspensions, temporary_addresses, cancellations, '
        'cancelled_terms, saved_forms, commits, login_failures, login_successes, staged_keys, '
        'reader_sessions, sign_in_links, entitlement_codes, qualified_subscriptions TO %I',
        readers);
    EXECUTE format(
        'GRANT EXECUTE ON FUNCTION %s, history, account_of_site, sites TO %I',
        array_to_string(functions, ', '), readers);
END $$;
