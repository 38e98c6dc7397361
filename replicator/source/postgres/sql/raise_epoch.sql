-- Raises the epoch and notes what is known of both sides.
--   $1  the pipeline
--   $2  the epoch to be above
--   $3  which database this is
--   $4  indices, $5 the uuids of the real ones
update {schema}.checkpoint
set epoch = greatest(epoch, $2::bigint) + 1,
    partners = jsonb_build_object('place', $3::text, 'targets',
                                  coalesce((select jsonb_object_agg(t.index, t.uuid)
                                            from unnest($4::integer[], $5::text[]) as t(index, uuid)), '{}'))
where pipeline = $1
returning epoch
