-- Installs the example database blog: psql -d DATABASE -f install.sql
-- Run again, it brings the views up to date and leaves the rows as they are. sample.sql fills it.
\set ON_ERROR_STOP on
set client_min_messages = warning;
begin;
\ir tables.sql
\ir documents.sql
\ir users_with_posts.sql
\ir users_and_posts.sql
commit;
reset client_min_messages;
