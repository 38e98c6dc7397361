-- A row that was changed. `is not` alone would take the column's collation, and 1 for the same as 1.0.
create trigger {name} after update on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {old});
  insert into {schema}_outbox (capture, value)
  select {capture}, {new} where {moved};
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end
