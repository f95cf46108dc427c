-- By which a filter's list is merged from the kinds of subscriptions that fit, each in the order of
-- its ids: so it takes as long in a large account as in a small one.
CREATE INDEX subscriptions_by_kind ON subscriptions (
    account_id, publication_id, type, copies, issues, renew_campaign_active);
-- A last name and a first name together, of which each alone many may have.
CREATE INDEX subscribers_by_name ON subscribers (account_id, last_name_folded, first_name_folded);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('subscriptions', 'subscriptions_by_kind', '1000000 1000000 100000 50000 20000 1000 500'),
    ('subscribers', 'subscribers_by_name', '1000000 1000000 1000 10');
