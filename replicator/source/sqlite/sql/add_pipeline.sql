-- A pipeline whose checkpoint begins here: a backfill, whose snapshots are younger, sees everything before.
update {schema}_counter set pipeline = {pipeline};
insert into {schema}_pipeline (id, name, identity)
values ({pipeline}, {name},
        lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
              substr('89ab', 1 + (abs(random()) % 4), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))));
insert into {schema}_checkpoint (pipeline, last_id) select {pipeline}, coalesce(max(id), 0) from {schema}_outbox
