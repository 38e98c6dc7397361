-- The alias stands for the generation that was beside, so both exchange their names.
--   {reindex}, {live}, {beside}  ids, as of before
update {schema}_index set alias = (select live_name from {schema}_reindex where id = {reindex}) where id = {live};
update {schema}_index set alias = (select alias from {schema}_reindex where id = {reindex}) where id = {beside};
update {schema}_reindex
set live = {beside}, beside = {live}, live_name = beside_name, beside_name = live_name, forced = 0,
    kept_until = cast(strftime('%s', 'now') as integer) + keep,
    wanted = case when wanted = 'abort' then '' else wanted end
where id = {reindex};
