-- A role that may change the application's rows, and has no right on anything of lockstep's.
create role chaos_stranger;
grant usage on schema app, fs, chaos to chaos_stranger;
grant all on all tables in schema app, fs, chaos to chaos_stranger;
grant all on all sequences in schema app, fs, chaos to chaos_stranger;
