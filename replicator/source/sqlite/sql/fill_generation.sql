-- A second generation of an index, beside the one that the alias stands for: it follows changes from now on, and is filled.
--   {live}, {live_written_by}                    the one that there is
--   {beside}, {beside_name}, {beside_written_by} the other one, which is defined
--   {reindex}, {live_name}, {documents}          about
update {schema}_counter set job = job + 1;
update {schema}_index set written_by = {live_written_by} where id = {live};
update {schema}_index set alias = {beside_name}, written_by = {beside_written_by}, followed = 1 where id = {beside};
insert into {schema}_job (id, pipeline, index_id, kind, total, reason)
select c.job, r.pipeline, {beside}, 'backfill', {documents}, 'reindex of ' || r.alias
from {schema}_counter as c, {schema}_reindex as r where r.id = {reindex};
update {schema}_reindex set beside = {beside}, live_name = {live_name}, beside_name = {beside_name} where id = {reindex};
