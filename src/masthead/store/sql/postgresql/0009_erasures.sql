-- The locks of all accounts are taken first. So this waits for loads that are running, and none
-- can hold one of the tables while it waits for another, which would be a deadlock.
SELECT pg_advisory_xact_lock(1, hashint8(account_id)) FROM accounts ORDER BY account_id;

-- By these all rows of one subscriber are found, to give them out or to blank them.
CREATE INDEX orders_by_subscriber ON orders (account_id, subscriber_id);
CREATE INDEX purchases_by_subscriber ON purchases (account_id, subscriber_id);

-- An erasure refers to no row of subscribers: it holds for whoever is not there yet, such as one
-- whom a restored backup lacks and the next load brings back. The locks that readers wait for are
-- taken last, and in the order in which an export reads.
LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE;
ALTER TABLE erasures DROP CONSTRAINT erasures_account_id_subscriber_id_fkey;
