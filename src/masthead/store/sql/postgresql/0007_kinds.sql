-- What an account's subscriptions are like in what operation 7 filters by: each combination that
-- there is, or was, once. A filter that no kind fits selects nothing, and no subscription is read.
CREATE TABLE subscription_kinds (
    account_id BIGINT NOT NULL,
    publication_id BIGINT NOT NULL,
    type TEXT COLLATE "C",
    copies BIGINT,
    issues BIGINT,
    renew_campaign_active BIGINT NOT NULL
);
CREATE INDEX subscription_kinds_by_account ON subscription_kinds (
    account_id, publication_id, type, copies, issues, renew_campaign_active);
INSERT INTO subscription_kinds
SELECT DISTINCT account_id, publication_id, type, copies, issues, renew_campaign_active
FROM subscriptions;
ALTER TABLE subscription_kinds ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON subscription_kinds TO masthead_server
    USING (account_id = current_account());
GRANT SELECT ON subscription_kinds TO masthead_server;
