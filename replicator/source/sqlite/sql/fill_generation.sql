-- A second generation of an index, beside the one that the alias stands for: it follows the same changes, and is filled.
--   {live}, {live_written_by}                    the one that there is
--   {beside}, {beside_name}, {beside_written_by} the other one
--   {reindex}, {live_name}, {documents}          about
update {schema}_counter set "index" = {beside}, job = job + 1;
update {schema}_index set written_by = {live_written_by} where id = {live};
insert into {schema}_index (id, pipeline, alias, written_by, view, id_type, routed, fields, json_fields, definition)
select {beside}, pipeline, {beside_name}, {beside_written_by}, view, id_type, routed, fields, json_fields, definition
from {schema}_index where id = {live};
insert into {schema}_track (index_id, capture, resolver)
select {beside}, capture, resolver from {schema}_track where index_id = {live} order by id;
insert into {schema}_job (id, pipeline, index_id, kind, total, reason)
select c.job, r.pipeline, {beside}, 'backfill', {documents}, 'reindex of ' || r.alias
from {schema}_counter as c, {schema}_reindex as r where r.id = {reindex};
update {schema}_reindex set beside = {beside}, live_name = {live_name}, beside_name = {beside_name} where id = {reindex};
