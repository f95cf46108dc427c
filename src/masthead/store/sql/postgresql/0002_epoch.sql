-- epoch_at: microseconds since 1970 in UTC. What a client of the change feed learned before that
-- time may be of a history that the database no longer has: it must begin anew. NULL: no such time.
ALTER TABLE accounts ADD COLUMN epoch_at BIGINT;
