-- An encyclopedia of music in the shape of MusicBrainz: numbers as keys beside uuids, credits of several artists with an order, media
-- without a name, types that are tables, areas within areas by a table of links that leads to itself, redirects.
create schema mb;
create schema search;

create table mb.area_type (id integer primary key, name text not null, parent integer references mb.area_type);
create table mb.area (id integer primary key, gid uuid not null unique, name text not null, type integer references mb.area_type);
create table mb.area_containment (
  descendant integer references mb.area on delete cascade, parent integer references mb.area on delete cascade, depth smallint not null,
  primary key (descendant, parent)
);
create table mb.gender (id integer primary key, name text not null);
create table mb.artist_type (id integer primary key, name text not null);
create table mb.artist (
  id integer primary key, gid uuid not null unique, name text not null, sort_name text not null, begin_date_year smallint,
  type integer references mb.artist_type, area integer references mb.area, gender integer references mb.gender,
  begin_area integer references mb.area
);
create table mb.artist_alias (id integer primary key, artist integer not null references mb.artist on delete cascade, name text not null);
create table mb.artist_credit (id integer primary key, name text not null, artist_count smallint not null);
create table mb.artist_credit_name (
  artist_credit integer references mb.artist_credit on delete cascade, position smallint, artist integer not null references mb.artist,
  name text not null, join_phrase text not null default '', primary key (artist_credit, position)
);
create table mb.release_group (
  id integer primary key, gid uuid not null unique, name text not null, artist_credit integer not null references mb.artist_credit
);
create table mb.language (id integer primary key, name text not null);
create table mb.release (
  id integer primary key, gid uuid not null unique, name text not null, artist_credit integer not null references mb.artist_credit,
  release_group integer not null references mb.release_group, language integer references mb.language
);
create table mb.label (id integer primary key, gid uuid not null unique, name text not null, area integer references mb.area);
create table mb.release_label (
  id integer primary key, release integer not null references mb.release on delete cascade, label integer references mb.label, catalog_number text
);
create table mb.medium_format (id integer primary key, name text not null);
create table mb.medium (
  id integer primary key, release integer not null references mb.release on delete cascade, position integer not null,
  format integer references mb.medium_format
);
create table mb.recording (
  id integer primary key, gid uuid not null unique, name text not null, artist_credit integer not null references mb.artist_credit,
  length integer
);
create table mb.track (
  id integer primary key, gid uuid not null unique, recording integer not null references mb.recording,
  medium integer not null references mb.medium on delete cascade, position integer not null, name text not null,
  artist_credit integer not null references mb.artist_credit
);
create table mb.tag (id integer primary key, name text not null);
create table mb.release_tag (
  release integer references mb.release on delete cascade, tag integer references mb.tag on delete cascade, count integer not null default 1,
  primary key (release, tag)
);

insert into mb.area_type select n, 'area type ' || n, nullif(n - 1, 0) from generate_series(1, 4) as n;
insert into mb.area select n, md5('area ' || n)::uuid, 'area ' || n, n % 4 + 1 from generate_series(1, 12) as n;
insert into mb.area_containment select n, n / 2, 1 from generate_series(2, 12) as n;
insert into mb.gender select n, 'gender ' || n from generate_series(1, 3) as n;
insert into mb.artist_type select n, 'artist type ' || n from generate_series(1, 3) as n;
insert into mb.artist
select n, md5('artist ' || n)::uuid, 'artist ' || n, 'artist, ' || n, 1950 + n, n % 3 + 1, n % 12 + 1, nullif(n % 4, 0), n from generate_series(1, 12) as n;
insert into mb.artist_alias select n, n % 12 + 1, 'alias ' || n from generate_series(1, 20) as n;
insert into mb.artist_credit select n, 'credit ' || n, 2 from generate_series(1, 12) as n;
insert into mb.artist_credit_name select c, p, (c + p) % 12 + 1, 'name ' || c, ' & ' from generate_series(1, 12) as c, generate_series(0, 1) as p;
insert into mb.release_group select n, md5('group ' || n)::uuid, 'group ' || n, n from generate_series(1, 12) as n;
insert into mb.language select n, 'language ' || n from generate_series(1, 4) as n;
insert into mb.release
select n, md5('release ' || n)::uuid, 'release ' || n, n % 12 + 1, n % 12 + 1, nullif(n % 5, 0) from generate_series(1, 24) as n;
insert into mb.label select n, md5('label ' || n)::uuid, 'label ' || n, n from generate_series(1, 8) as n;
insert into mb.release_label select n, n % 24 + 1, n % 8 + 1, 'cat ' || n from generate_series(1, 30) as n;
insert into mb.medium_format select n, 'format ' || n from generate_series(1, 3) as n;
insert into mb.medium select n, n % 24 + 1, n / 24 + 1, n % 3 + 1 from generate_series(1, 30) as n;
insert into mb.recording select n, md5('recording ' || n)::uuid, 'recording ' || n, n % 12 + 1, n * 1000 from generate_series(1, 40) as n;
insert into mb.track select n, md5('track ' || n)::uuid, n % 40 + 1, n % 30 + 1, n, 'track ' || n, n % 12 + 1 from generate_series(1, 80) as n;
insert into mb.tag select n, 'tag ' || n from generate_series(1, 6) as n;
insert into mb.release_tag select r, t, 1 from generate_series(1, 24) as r, generate_series(1, 6) as t where (r + t) % 3 = 0;

create view search.releases as
select r.gid as _id, r.name, g.name as release_group, l.name as language,
       (select json_agg(json_build_object('name', n.name, 'artist', a.gid, 'type', t.name, 'area', w.name, 'area_type', y.name,
                                          'aliases', (select json_agg(s.name order by s.id) from mb.artist_alias as s where s.artist = a.id))
                        order by n.position)
        from mb.artist_credit_name as n
          join mb.artist as a on a.id = n.artist
          left join mb.artist_type as t on t.id = a.type
          left join mb.area as w on w.id = a.area
          left join mb.area_type as y on y.id = w.type
        where n.artist_credit = r.artist_credit) as artists,
       (select json_agg(json_build_object('format', f.name, 'tracks',
                          (select json_agg(json_build_object('name', k.name, 'recording', c.gid, 'credit', x.name) order by k.position, k.id)
                           from mb.track as k
                             join mb.recording as c on c.id = k.recording
                             join mb.artist_credit as x on x.id = k.artist_credit
                           where k.medium = m.id)) order by m.position, m.id)
        from mb.medium as m left join mb.medium_format as f on f.id = m.format where m.release = r.id) as media,
       (select json_agg(b.name order by e.id) from mb.release_label as e join mb.label as b on b.id = e.label where e.release = r.id) as labels,
       array(select g.name from mb.release_tag as u join mb.tag as g on g.id = u.tag where u.release = r.id order by u.tag) as tags
from mb.release as r
  join mb.release_group as g on g.id = r.release_group
  left join mb.language as l on l.id = r.language;
