-- Each generation of an index has a definition of its own: what the configuration file says of its documents. So the old
-- generation keeps its view and its tracks while the configuration describes the new one.
alter table {schema}_index
  add column configured text;        -- {"view", "json", "tracks"}, JSON; null: as the configuration file says it now
alter table {schema}_index
  add column followed integer not null default 1;  -- 0: a reindex is about to begin with it
