-- Lets documents that become due again join those that are due and left alone for a while: whoever renders these makes up for
-- them, too. Returns which of them are due so, page by page.
--   $1  index
--   $2  ids
--   $3  the version under which a rendering makes up for them, or null
--   $4  the number that they are due since, or null
update {schema}.due as d
set as_of = case when d.as_of is not null and $3::bigint is not null then greatest(d.as_of, $3::bigint) end,
    since = least(coalesce(d.since, d.number), coalesce($4::bigint, d.number))
where d.index = $1 and d.not_before > clock_timestamp() and d.ids && $2::text[]
returning array(select unnest(d.ids) intersect select unnest($2::text[]))::text
