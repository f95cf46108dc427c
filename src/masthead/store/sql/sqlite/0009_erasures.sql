-- By these all rows of one subscriber are found, to give them out or to blank them.
CREATE INDEX orders_by_subscriber ON orders (account_id, subscriber_id);
CREATE INDEX purchases_by_subscriber ON purchases (account_id, subscriber_id);

-- An erasure refers to no row of subscribers: it holds for whoever is not there yet, such as one
-- whom a restored backup lacks and the next load brings back.
CREATE TABLE erasures_of_any (
    account_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    erased_at TEXT,
    PRIMARY KEY (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
INSERT INTO erasures_of_any (account_id, subscriber_id, erased_at)
SELECT account_id, subscriber_id, erased_at FROM erasures;
DROP TABLE erasures;
ALTER TABLE erasures_of_any RENAME TO erasures;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('orders', 'orders_by_subscriber', '1000000 1000000 2'),
    ('purchases', 'purchases_by_subscriber', '1000000 1000000 2'),
    ('erasures', 'erasures', '1000 1000 1');
