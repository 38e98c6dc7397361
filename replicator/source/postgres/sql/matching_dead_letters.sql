-- Condition over lockstep.dead_letter as d: the dead letters that a person means.
--   $1  indices
--   $2  ids; empty: any
--   $3  the error type, or a part of the reason, ignoring case; empty: any
--   $4, $5  last refused since and until, inclusive; null: whenever
d.index = any($1::integer[])
and (cardinality($2::text[]) = 0 or d.id = any($2::text[]))
and ($3::text = '' or lower(d.error_type) = lower($3::text) or strpos(lower(d.reason), lower($3::text)) > 0)
and d.last_at >= coalesce($4::timestamptz, '-infinity')
and d.last_at <= coalesce($5::timestamptz, 'infinity')
