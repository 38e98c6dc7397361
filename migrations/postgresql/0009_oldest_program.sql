-- oldest program: 8
-- A program that meets a newer schema goes on when it knows enough of it: all migrations up to `oldest_program` of those that
-- it does not know. A migration says so in its first line. Without a number only programs that know it serve the schema.
alter table {schema}.migration add column oldest_program integer;
