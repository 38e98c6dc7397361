-- Everything that lockstep has of an index.
delete from {schema}_due where index_id = {id};
delete from {schema}_job where index_id = {id};
delete from {schema}_track where index_id = {id};
delete from {schema}_set_aside where index_id = {id};
delete from {schema}_route where index_id = {id};
delete from {schema}_dead_letter where index_id = {id};
delete from {schema}_pace where index_id = {id};
delete from {schema}_reindex where live = {id};
update {schema}_reindex set beside = null where beside = {id};
delete from {schema}_index where id = {id}
