-- Raises a pipeline's epoch and notes both sides.
--   $1  the pipeline
--   $2  an epoch that the new one must be above
--   $3  which database this is
--   $4  indices, $5 the uuids of their real indices
--   place, unnamed_place  as in session/place.h; who may know more of the database than the last leader notes that
update {schema}.checkpoint
set epoch = greatest(epoch, $2::bigint) + 1,
    partners = jsonb_build_object('place', case when $3::text = {unnamed_place} then {place} else $3::text end,
                                  'unnamed_place', {unnamed_place}, 'targets',
                                  coalesce((select jsonb_object_agg(t.index, t.uuid)
                                            from unnest($4::integer[], $5::text[]) as t(index, uuid)),
                                           jsonb_build_object()))
where pipeline = $1
returning epoch
