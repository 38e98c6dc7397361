-- oldest program: 19
-- With a thousand partitions in the statistics, PostgreSQL 17 reads all of pg_inherits at each step of tables_above(), by its other
-- index, and joins by hashing: two seconds for each look.
alter function {schema}.tables_above(oid) set enable_hashjoin = off;
alter function {schema}.tables_above(oid) set enable_mergejoin = off;
