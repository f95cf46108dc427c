-- Whose personal data are kept blank, whatever is loaded. erased_at: YYYY-MM-DD hh:mm:ss in UTC.
CREATE TABLE erasures (
    account_id INTEGER NOT NULL,
    subscriber_id INTEGER NOT NULL,
    erased_at TEXT,
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
) STRICT, WITHOUT ROWID;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('erasures', 'erasures', '1000 1000 1');

-- Who did what with the commands. at: microseconds since 1970 in UTC; account_id: NULL where it was
-- no single account. It names accounts without referring to them: a record outlives what it is of.
CREATE TABLE audit (
    entry_id INTEGER NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    user_name TEXT NOT NULL,
    command TEXT NOT NULL,
    account_id INTEGER,
    summary TEXT NOT NULL
) STRICT;
