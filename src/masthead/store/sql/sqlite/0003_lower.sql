-- What is compared without regard to ASCII letter case has a column of its own, as on PostgreSQL.
ALTER TABLE subscribers
    ADD COLUMN renewal_code_lower TEXT GENERATED ALWAYS AS (lower(renewal_code)) VIRTUAL;
ALTER TABLE subscribers ADD COLUMN email_lower TEXT GENERATED ALWAYS AS (lower(email)) VIRTUAL;
ALTER TABLE subscribers ADD COLUMN source_lower TEXT GENERATED ALWAYS AS (lower(source)) VIRTUAL;
DROP INDEX subscribers_by_renewal_code;
DROP INDEX subscribers_by_email;
DROP INDEX subscribers_by_source;
CREATE UNIQUE INDEX subscribers_by_renewal_code ON subscribers (account_id, renewal_code_lower);
CREATE INDEX subscribers_by_email ON subscribers (account_id, email_lower);
CREATE INDEX subscribers_by_source ON subscribers (account_id, source_lower);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('subscribers', 'subscribers_by_renewal_code', '1000000 1000000 1'),
    ('subscribers', 'subscribers_by_email', '1000000 1000000 2'),
    ('subscribers', 'subscribers_by_source', '1000000 1000000 50000');
