-- Everything that lockstep has of a pipeline whose triggers are gone. Other pipelines stay.
{#indices}
delete from {schema}_track where index_id = {id};
delete from {schema}_set_aside where index_id = {id};
delete from {schema}_route where index_id = {id};
delete from {schema}_dead_letter where index_id = {id};
delete from {schema}_pace where index_id = {id};
delete from {schema}_due where index_id = {id};
{/indices}
delete from {schema}_job where pipeline = {pipeline};
delete from {schema}_capture where pipeline = {pipeline};
delete from {schema}_index where pipeline = {pipeline};
delete from {schema}_checkpoint where pipeline = {pipeline};
delete from {schema}_reindex where pipeline = {pipeline};
delete from {schema}_mark where pipeline = {pipeline};
delete from {schema}_pipeline where id = {pipeline}
