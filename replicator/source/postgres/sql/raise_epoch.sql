-- Raises a pipeline's epoch and notes both sides.
--   $1  the pipeline
--   $2  an epoch that the new one must be above
--   $3  which database this is
--   $4  indices, $5 the uuids of their real indices
--   unnamed_place  which database this is, for sessions that may know less of it
update {schema}.checkpoint
set epoch = greatest(epoch, $2::bigint) + 1,
    partners = jsonb_build_object('place', $3::text, 'unnamed_place', {unnamed_place}, 'targets',
                                  coalesce((select jsonb_object_agg(t.index, t.uuid)
                                            from unnest($4::integer[], $5::text[]) as t(index, uuid)),
                                           jsonb_build_object()))
where pipeline = $1
returning epoch
