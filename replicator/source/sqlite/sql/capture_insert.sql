-- A row that was inserted.
create trigger {name} after insert on {table}{when}
begin
  insert into {schema}_outbox (capture, value) values ({capture}, {new});
{#limited}
  update {schema}_outbox_limit set left_out = 1
  where left_out = 0 and max_rows <= (select max(id) from {schema}_outbox) - (select min(id) from {schema}_outbox);
{/limited}
end
