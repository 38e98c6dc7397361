-- What the last leader has noted of both sides, so that the next one notices when one of them was restored or replaced:
-- {"place": cluster and database, "targets": {index: uuid of the real index}}.
alter table {schema}.checkpoint add column partners jsonb not null default '{}';

-- A comparison is like a backfill, and writes only what differs.
alter table {schema}.job drop constraint job_kind_check;
alter table {schema}.job add constraint job_kind_check check (kind in ('backfill', 'comparison', 'fan_out', 'sweep'));
