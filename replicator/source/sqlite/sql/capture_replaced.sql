-- The rows that a statement which says `replace` may be about to delete, for which no trigger fires: those that are the same
-- as the new row in a unique index.
create trigger {name} before {event} on {table}{when}
begin
{#indices}
  insert into {schema}_outbox (capture, value)
  select {capture}, {replaced} from {table} where {same};
{/indices}
end
