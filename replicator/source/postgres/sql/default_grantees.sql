-- The roles that may execute the functions that somebody else than a role makes in lockstep's schema.
--   $1  name of the schema
--   $2  name of the role
select distinct quote_ident(pg_get_userbyid(a.grantee))
from pg_default_acl as d
  join pg_namespace as n on n.oid = d.defaclnamespace
  cross join lateral aclexplode(d.defaclacl) as a
where n.nspname = $1 and d.defaclobjtype = 'f' and pg_get_userbyid(d.defaclrole) <> $2 and a.grantee <> 0
  and a.grantee <> d.defaclrole and pg_get_userbyid(a.grantee) <> $2
