-- Lets documents that become due again join pages that wait for a pause, or are tried behind one: whoever renders these makes
-- up for them, too. Returns which of them are due so, page by page.
--   $1  index
--   $2  ids
--   $3  the version under which a rendering makes up for them, or null
--   $4  the number that they are due since, or null
--   $5  numbers of pages that this transaction takes off
update {schema}.due as d
set as_of = case when d.as_of is not null and $3::bigint is not null then greatest(d.as_of, $3::bigint) end,
    since = least(coalesce(d.since, d.number), coalesce($4::bigint, d.number))
where d.index = $1 and d.ids && $2::text[] and d.number <> all ($5::bigint[]) and d.due_at <= clock_timestamp()
  and (d.not_before > clock_timestamp() or (d.not_before > '-infinity' and d.as_of < $3::bigint))
returning array(select unnest(d.ids) intersect select unnest($2::text[]))::text
