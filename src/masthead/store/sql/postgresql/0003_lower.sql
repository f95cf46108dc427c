-- What is compared without regard to ASCII letter case has a column of its own: under a policy no
-- index on an expression is used, because lower() is not known to keep what it reads to itself.
ALTER TABLE subscribers
    ADD COLUMN renewal_code_lower TEXT COLLATE "C"
        GENERATED ALWAYS AS (lower(renewal_code)) STORED,
    ADD COLUMN email_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(email)) STORED,
    ADD COLUMN source_lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(source)) STORED;
DROP INDEX subscribers_by_renewal_code;
DROP INDEX subscribers_by_email;
DROP INDEX subscribers_by_source;
CREATE UNIQUE INDEX subscribers_by_renewal_code ON subscribers (account_id, renewal_code_lower);
CREATE INDEX subscribers_by_email ON subscribers (account_id, email_lower);
CREATE INDEX subscribers_by_source ON subscribers (account_id, source_lower);
