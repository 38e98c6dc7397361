-- A row that was deleted, but by a statement that says `replace`.
create trigger {name} after delete on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {old});
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end
