-- By which a filter's list is merged from the kinds of subscriptions that fit, each in the order of
-- its ids: so it takes as long in a large account as in a small one. A kind has a column of its
-- own, since no index finds a missing value by comparing it with another row's. Of its parts only
-- the type may be any text, so no two kinds are the same.
ALTER TABLE subscriptions ADD COLUMN kind TEXT COLLATE "C" GENERATED ALWAYS AS (
    CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
    || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
    || '|' || CAST(renew_campaign_active AS TEXT)) STORED;
ALTER TABLE subscription_kinds ADD COLUMN kind TEXT COLLATE "C" GENERATED ALWAYS AS (
    CAST(publication_id AS TEXT) || '|' || coalesce(type, '')
    || '|' || coalesce(CAST(copies AS TEXT), '') || '|' || coalesce(CAST(issues AS TEXT), '')
    || '|' || CAST(renew_campaign_active AS TEXT)) STORED;
CREATE INDEX subscriptions_by_kind ON subscriptions (account_id, kind, subscription_id);
-- What many may have in common is found in the order of ids, too, as on SQLite; and a last name and
-- a first name are found together.
DROP INDEX subscribers_by_source;
DROP INDEX subscribers_by_first_name;
DROP INDEX subscribers_by_last_name;
CREATE INDEX subscribers_by_source ON subscribers (account_id, source_lower, subscriber_id);
CREATE INDEX subscribers_by_first_name
    ON subscribers (account_id, first_name_folded, subscriber_id);
CREATE INDEX subscribers_by_last_name ON subscribers (account_id, last_name_folded, subscriber_id);
CREATE INDEX subscribers_by_name
    ON subscribers (account_id, last_name_folded, first_name_folded, subscriber_id);
