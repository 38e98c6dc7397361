-- The triggers that `apply` makes beside the tables of a typical pipeline (source_definition_test.cc), whole and as
-- sqlite_schema has them. A change of this text makes every `apply` after an upgrade make the triggers anew.

CREATE TRIGGER lockstep_1_delete after delete on "posts"
begin
  insert into lockstep_outbox (capture, value) values (1, old."id");
end;

CREATE TRIGGER lockstep_1_insert after insert on "posts"
begin
  insert into lockstep_outbox (capture, value) values (1, new."id");
end;

CREATE TRIGGER lockstep_1_update after update on "posts"
when old."id" is not new."id" collate binary or typeof(old."id") <> typeof(new."id")
  or old."title" is not new."title" collate binary or typeof(old."title") <> typeof(new."title")
  or old."user_id" is not new."user_id" collate binary or typeof(old."user_id") <> typeof(new."user_id")
begin
  insert into lockstep_outbox (capture, value) values (1, old."id");
  insert into lockstep_outbox (capture, value)
  select 1, new."id" where old."id" is not new."id" collate binary or typeof(old."id") <> typeof(new."id");
end;

CREATE TRIGGER lockstep_2_delete after delete on "users"
begin
  insert into lockstep_outbox (capture, value) values (2, old."id");
end;

CREATE TRIGGER lockstep_2_insert after insert on "users"
begin
  insert into lockstep_outbox (capture, value) values (2, new."id");
end;

CREATE TRIGGER lockstep_2_replace_by_insert before insert on "users"
begin
  insert into lockstep_outbox (capture, value)
  select 2, "users"."id" from "users" where "users"."email" collate "BINARY" = new."email";
end;

CREATE TRIGGER lockstep_2_replace_by_update before update on "users"
begin
  insert into lockstep_outbox (capture, value)
  select 2, "users"."id" from "users" where "users"."email" collate "BINARY" = new."email" and "users".rowid <> old.rowid;
end;

CREATE TRIGGER lockstep_2_update after update on "users"
when old."id" is not new."id" collate binary or typeof(old."id") <> typeof(new."id")
  or old."name" is not new."name" collate binary or typeof(old."name") <> typeof(new."name")
begin
  insert into lockstep_outbox (capture, value) values (2, old."id");
  insert into lockstep_outbox (capture, value)
  select 2, new."id" where old."id" is not new."id" collate binary or typeof(old."id") <> typeof(new."id");
end;
