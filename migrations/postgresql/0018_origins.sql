-- oldest program: 15
-- For the leader, whose role may not write the table index: notes what an index is made of now, unless somebody has noted
-- another thing than `known` meanwhile. Returns whether it did.
--   why  if not empty: its documents may have been rendered from another definition, so the index is compared with its view.
--        Not left to a comparison that waits, whose first page may be read already.
create or replace function {schema}.note_definition(index_id integer, known text, now text, why text)
returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp as $lockstep$
begin
  update {schema}.index as i set definition = note_definition.now where i.id = index_id and i.definition = known;
  if not found then
    return false;
  end if;
  insert into {schema}.job (pipeline, index, kind, reason)
  select i.pipeline, i.id, k.kind, why
  from {schema}.index as i
    cross join (values (1, 'comparison'), (2, 'sweep')) as k(number, kind)
  where i.id = index_id and i.followed and why <> ''
  order by k.number;
  return true;
end
$lockstep$;
revoke all on function {schema}.note_definition(integer, text, text, text) from public;
