-- Installs the example database fs: psql -d DATABASE -f install.sql
-- Run again, it brings functions and views up to date and leaves the rows as they are.
\set ON_ERROR_STOP on
set client_min_messages = warning;
begin;
\ir nodes.sql
\ir components.sql
\ir walk.sql
\ir resolve.sql
\ir find.sql
\ir path.sql
\ir ls.sql
\ir mkdir.sql
\ir put.sql
\ir guard_move.sql
\ir rename.sql
\ir remove.sql
\ir documents.sql
\ir documents_by_id.sql
commit;
reset client_min_messages;
