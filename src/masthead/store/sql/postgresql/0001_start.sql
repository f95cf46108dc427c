-- Accounts, their commits, and the fourteen tables of an account's data.
--
-- The collation "C" orders text by code points and lowers only ASCII letters, as SQLite does.
-- Every key begins with account_id. A row of the change feed's entities carries the commit that
-- last changed it (commit_id; custom_fields_commit_id for a subscriber's record of custom fields).
-- A missing value is NULL, never ''. Exact numbers and decimals are text, as they
-- were loaded and as SQLite has them.

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
    hide_password_md5 BIGINT NOT NULL DEFAULT 0 CHECK (hide_password_md5 IN (0, 1))
);
-- With a condition it is no key that a row could be referred to by: so a new api_key does not wait
-- for a load, whose commit refers to the account.
CREATE UNIQUE INDEX accounts_by_api_key ON accounts (api_key) WHERE api_key IS NOT NULL;

-- visible_at: microseconds since 1970 in UTC; NULL until the commit is stamped.
CREATE TABLE commits (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    commit_id BIGINT NOT NULL,
    visible_at BIGINT,
    PRIMARY KEY (account_id, commit_id)
);
CREATE UNIQUE INDEX commits_by_visible_at ON commits (account_id, visible_at);
CREATE INDEX commits_without_stamp ON commits (account_id) WHERE visible_at IS NULL;

CREATE TABLE publications (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    publication_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    PRIMARY KEY (account_id, publication_id)
);

CREATE TABLE issues (
    account_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    name TEXT COLLATE "C",
    date TEXT COLLATE "C",
    PRIMARY KEY (account_id, issue_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id)
);

-- first_name_folded, last_name_folded: Unicode case folding, as Python has it.
CREATE TABLE subscribers (
    account_id BIGINT NOT NULL REFERENCES accounts (account_id),
    subscriber_id BIGINT NOT NULL,
    renewal_code TEXT COLLATE "C",
    email TEXT COLLATE "C",
    password_md5 TEXT COLLATE "C",
    first_name TEXT COLLATE "C",
    last_name TEXT COLLATE "C",
    source TEXT COLLATE "C",
    delete_date TEXT COLLATE "C",
    first_name_folded TEXT COLLATE "C",
    last_name_folded TEXT COLLATE "C",
    commit_id BIGINT NOT NULL,
    custom_fields_commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, subscriber_id)
);
CREATE UNIQUE INDEX subscribers_by_renewal_code ON subscribers (account_id, lower(renewal_code));
CREATE INDEX subscribers_by_email ON subscribers (account_id, lower(email));
CREATE INDEX subscribers_by_source ON subscribers (account_id, lower(source));
CREATE INDEX subscribers_by_first_name ON subscribers (account_id, first_name_folded);
CREATE INDEX subscribers_by_last_name ON subscribers (account_id, last_name_folded);
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
    PRIMARY KEY (account_id, address_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
CREATE INDEX addresses_by_subscriber ON addresses (account_id, subscriber_id);
CREATE INDEX addresses_by_commit ON addresses (account_id, commit_id, address_id);

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
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, subscription_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, publication_id) REFERENCES publications (account_id, publication_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
);
CREATE INDEX subscriptions_by_subscriber ON subscriptions (account_id, subscriber_id);
CREATE INDEX subscriptions_by_commit ON subscriptions (account_id, commit_id, subscription_id);

CREATE TABLE subscription_issues (
    account_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    issue_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, subscription_id, issue_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id),
    FOREIGN KEY (account_id, issue_id) REFERENCES issues (account_id, issue_id)
);

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
    PRIMARY KEY (account_id, subscriber_id, field_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, field_id) REFERENCES custom_fields (account_id, field_id)
);

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
    commit_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, order_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id),
    FOREIGN KEY (account_id, mailing_address_id) REFERENCES addresses (account_id, address_id),
    FOREIGN KEY (account_id, billing_address_id) REFERENCES addresses (account_id, address_id)
);
CREATE INDEX orders_by_commit ON orders (account_id, commit_id, order_id);

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
    PRIMARY KEY (account_id, order_item_id),
    CHECK ((bundle_id IS NULL) <> (product_id IS NULL)),
    FOREIGN KEY (account_id, order_id) REFERENCES orders (account_id, order_id)
);
CREATE INDEX order_items_by_order ON order_items (account_id, order_id, order_item_id);

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
CREATE INDEX purchases_by_commit ON purchases (account_id, commit_id, purchase_id);

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

CREATE TABLE mailing_list_entries (
    account_id BIGINT NOT NULL,
    mailing_list_id BIGINT NOT NULL,
    subscription_id BIGINT NOT NULL,
    copies BIGINT,
    is_grace BIGINT NOT NULL DEFAULT 0,
    is_paid BIGINT NOT NULL DEFAULT 0,
    type TEXT COLLATE "C",
    PRIMARY KEY (account_id, mailing_list_id, subscription_id),
    FOREIGN KEY (account_id, mailing_list_id)
        REFERENCES list_downloads (account_id, mailing_list_id),
    FOREIGN KEY (account_id, subscription_id)
        REFERENCES subscriptions (account_id, subscription_id)
);

-- When a server last wrote to this database, in microseconds since 1970 in UTC: by it a replica's
-- reader can tell how far the replica is behind.
CREATE TABLE heartbeat (
    is_only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT TRUE CHECK (is_only_row),
    beat_at BIGINT NOT NULL
);
INSERT INTO heartbeat (beat_at) VALUES (0);

-- What a server may do, whoever's request it answers. It owns nothing, so the policies below bind
-- it: without an account it sees no row, and with one none of another account.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'masthead_server') THEN
        CREATE ROLE masthead_server NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- Another database of this server was made at the same time.
END $$;
-- From PostgreSQL 16 on, whoever makes a role may grant it, but not yet become it.
DO $$
DECLARE
    may_become TEXT := CASE
        WHEN current_setting('server_version_num')::INTEGER < 160000 THEN 'MEMBER' ELSE 'SET' END;
BEGIN
    IF NOT pg_has_role(current_user, 'masthead_server', may_become) THEN
        EXECUTE format('GRANT masthead_server TO %I', current_user);
    END IF;
END $$;

CREATE FUNCTION current_account() RETURNS BIGINT
    LANGUAGE SQL STABLE PARALLEL SAFE
    RETURN nullif(current_setting('masthead.account_id', TRUE), '')::BIGINT;

-- Three questions that a server has before it speaks for an account, or beyond that account. Each
-- is a function with its owner's rights, and tells no more than this.
CREATE FUNCTION accounts_for_keys(first TEXT, second TEXT)
    RETURNS TABLE (
        api_key TEXT, api_login TEXT, is_open BIGINT, account_id BIGINT, is_master BIGINT,
        hide_password_md5 BIGINT
    )
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT
            a.api_key, a.api_login, a.active * a.api_active, a.account_id, a.is_master,
            a.hide_password_md5
        FROM accounts AS a WHERE a.api_key IN (first, second);
    END;
CREATE FUNCTION is_master() RETURNS BOOLEAN
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT EXISTS (
            SELECT FROM accounts AS a WHERE a.account_id = current_account() AND a.is_master = 1);
    END;
CREATE FUNCTION accounts_to_stamp(idle_before BIGINT)
    RETURNS TABLE (account_id BIGINT, is_idle BOOLEAN)
    LANGUAGE SQL STABLE SECURITY DEFINER
    BEGIN ATOMIC
        SELECT c.account_id, FALSE FROM commits AS c WHERE c.visible_at IS NULL
        UNION
        SELECT a.account_id, TRUE FROM accounts AS a WHERE idle_before > (
            SELECT max(c.visible_at) FROM commits AS c WHERE c.account_id = a.account_id);
    END;
REVOKE ALL ON FUNCTION accounts_for_keys, is_master, accounts_to_stamp FROM PUBLIC;
GRANT EXECUTE ON FUNCTION accounts_for_keys, is_master, accounts_to_stamp TO masthead_server;

ALTER TABLE accounts ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON accounts TO masthead_server
    USING (account_id = current_account() OR (SELECT is_master()));
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'commits',
        'publications',
        'issues',
        'subscribers',
        'addresses',
        'subscriptions',
        'subscription_issues',
        'custom_fields',
        'custom_field_options',
        'custom_field_answers',
        'orders',
        'order_items',
        'purchases',
        'list_downloads',
        'mailing_list_entries'
    ]
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY own_account ON %I TO masthead_server '
            'USING (account_id = current_account())', name);
        EXECUTE format('GRANT SELECT ON %I TO masthead_server', name);
    END LOOP;
END $$;
GRANT SELECT ON accounts, migrations, heartbeat TO masthead_server;
GRANT UPDATE (beat_at) ON heartbeat TO masthead_server;
GRANT INSERT (account_id, commit_id), UPDATE (visible_at) ON commits TO masthead_server;
