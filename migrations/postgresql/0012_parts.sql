-- oldest program: 9
-- The parts that a tracked table had when somebody looked last: its partitions and the tables that inherit from it, at any depth. No
-- trigger fires when one is attached, detached or dropped, so this is compared with the catalog.
create table if not exists {schema}.part (
  pipeline  integer not null references {schema}.pipeline on delete cascade,
  relation  text not null,           -- the tracked table, quoted, schema-qualified
  table_oid oid  not null,
  name      text not null,           -- quoted, schema-qualified, as it was then
  primary key (pipeline, relation, table_oid)
);
comment on table {schema}.part is 'partitions and inheriting tables that are followed';
