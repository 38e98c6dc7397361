-- A relation by its oid.
--   $1  oid
select c.oid, c.oid::regclass::text, quote_ident(c.relname), c.relkind::text, quote_ident(n.nspname),
       pg_has_role(c.relowner, 'usage'), c.relpages,
       c.relrowsecurity,
       coalesce(c.reloptions @> '{security_invoker=true}' or c.reloptions @> '{security_invoker=on}'
                or c.reloptions @> '{security_invoker=1}' or c.reloptions @> '{security_invoker=yes}', false),
       c.relowner
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.oid = $1::oid
