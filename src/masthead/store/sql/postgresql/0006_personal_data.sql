-- Whose personal data are kept blank, whatever is loaded. erased_at: YYYY-MM-DD hh:mm:ss in UTC.
CREATE TABLE erasures (
    account_id BIGINT NOT NULL,
    subscriber_id BIGINT NOT NULL,
    erased_at TEXT COLLATE "C",
    PRIMARY KEY (account_id, subscriber_id),
    FOREIGN KEY (account_id, subscriber_id) REFERENCES subscribers (account_id, subscriber_id)
);
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON erasures TO masthead_server USING (account_id = current_account());
GRANT SELECT ON erasures TO masthead_server;

-- Who did what with the commands. at: microseconds since 1970 in UTC; account_id: NULL where it was
-- no single account. It names accounts without referring to them: a record outlives what it is of.
-- A server has no right to it.
CREATE TABLE audit (
    entry_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    user_name TEXT COLLATE "C" NOT NULL,
    command TEXT COLLATE "C" NOT NULL,
    account_id BIGINT,
    summary TEXT COLLATE "C" NOT NULL
);
