-- A transaction of very many changes steps aside: the tail goes on behind it, and a fan-out for each index makes its list of the
-- transaction's rows in the outbox, part by part.
alter table {schema}.job
  add column transaction xid8,  -- whose rows are still to be read; null: none, or none any more
  add column read_to bigint;    -- id of the last of its rows that the list has
