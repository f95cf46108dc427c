-- Whether a renewal code with a postal code is a login. Failed logins are counted beside the
-- database (tally.sql).
ALTER TABLE accounts ADD COLUMN renewal_code_login INTEGER NOT NULL DEFAULT 1
    CHECK (renewal_code_login IN (0, 1));
