-- What a view is made of.
--   $1  oid of the view
select r.oid, r.ev_action::text
from pg_rewrite as r
where r.ev_class = $1::oid and r.ev_type = '1'
