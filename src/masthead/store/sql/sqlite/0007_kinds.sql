-- What an account's subscriptions are like in what operation 7 filters by: each combination that
-- there is, or was, once. A filter that no kind fits selects nothing, and no subscription is read.
CREATE TABLE subscription_kinds (
    account_id INTEGER NOT NULL,
    publication_id INTEGER NOT NULL,
    type TEXT,
    copies INTEGER,
    issues INTEGER,
    renew_campaign_active INTEGER NOT NULL
) STRICT;
CREATE INDEX subscription_kinds_by_account ON subscription_kinds (
    account_id, publication_id, type, copies, issues, renew_campaign_active);
INSERT INTO subscription_kinds
SELECT DISTINCT account_id, publication_id, type, copies, issues, renew_campaign_active
FROM subscriptions;
