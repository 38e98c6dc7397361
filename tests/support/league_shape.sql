-- A league whose views compare rows of different documents.
create schema league;
create schema search;

create table league.teams (id int primary key, name text not null, region text not null);
create table league.players (
  id int primary key,
  team_id int references league.teams,
  position text not null,
  name text not null,
  score int not null
);
create table league.goals (
  id int primary key,
  player_id int not null references league.players on delete cascade,
  minute int not null
);
create index on league.players (team_id);
create index on league.players (position);
create index on league.teams (region);
create index on league.goals (player_id);

insert into league.teams select n, 'team ' || n, 'region ' || n % 3 from generate_series(1, 12) as n;
insert into league.players
select n, n % 12 + 1, 'position ' || n % 4, 'player ' || n, n * 7 % 23 from generate_series(1, 40) as n;
insert into league.goals select n, n % 40 + 1, n % 90 from generate_series(1, 120) as n;

create view search.ranked as
select id as _id, name, rank() over (partition by team_id order by score desc) as place from league.players;

create view search.running as
select id as _id, name, row_number() over (order by score, id) as place from league.players;

create view search.first_of_position as
select distinct on (position) id as _id, position, name, score from league.players order by position, score desc, id;

create view search.best as
select id as _id, name, score from league.players order by score desc, id limit 10;

-- What decides comes from a table that is joined, and from one that is counted.
create view search.by_region as
select p.id as _id, p.name,
       rank() over (partition by t.region order by t.name, p.score) as place,
       (select count(*) from league.goals as g where g.player_id = p.id) as goals
from league.players as p join league.teams as t on t.id = p.team_id;

create view search.scorers as
select p.id as _id, p.name, count(g.id) as goals,
       dense_rank() over (partition by p.position order by count(g.id) desc) as place
from league.players as p left join league.goals as g on g.player_id = p.id
group by p.id;

-- Rows that belong to one document are compared with one another.
create view search.teams as
select t.id as _id, t.name, best.name as best, last.minute as last_minute,
       (select json_agg(r.name order by r.place, r.name)
        from (select q.name, q.team_id, rank() over (partition by q.team_id order by q.score desc) as place
              from league.players as q) as r
        where r.team_id = t.id and r.place <= 3) as top
from league.teams as t
left join (select distinct on (p.team_id) p.team_id, p.name from league.players as p
           order by p.team_id, p.score desc, p.id) as best on best.team_id = t.id
left join lateral (select g.minute from league.goals as g join league.players as p on p.id = g.player_id
                   where p.team_id = t.id order by g.minute desc limit 1) as last on true;

-- What lets a row in comes from a table that is joined, summed, asked for or picked from.
create view search.admitted as
select p.id as _id, p.name
from league.players as p join league.teams as t on t.id = p.team_id
where t.region <> 'region 1' order by p.score, p.id limit 10;

create view search.standings as
select t.id as _id, rank() over (order by g.number desc) as place
from league.teams as t
cross join lateral (select count(*) as number from league.goals as g join league.players as p on p.id = g.player_id
                    where p.team_id = t.id) as g;

create view search.numbered_scorers as
select p.id as _id, row_number() over (partition by p.position order by p.id) as number
from league.players as p where exists (select from league.goals as g where g.player_id = p.id);

create view search.by_last_goal as
select p.id as _id, count(*) over (partition by last.minute) as number
from league.players as p
cross join lateral (select g.minute from league.goals as g where g.player_id = p.id order by g.id desc limit 1) as last;

create view search.by_pair as
select p.id as _id, rank() over (partition by q.position order by p.score, p.id) as place
from league.players as p join league.players as q on q.id = p.score;

create view search.two_windows as
select id as _id, rank() over (partition by team_id, position order by score) as place,
       count(*) over (partition by score) as number
from league.players;

-- The rows of a window, and those of them that are picked.
create view search.first_places as
select * from (select distinct on (x.place) x.id as _id, x.place, x.name
               from (select id, name, rank() over (partition by position order by score) as place
                     from league.players) as x
               order by x.place, x.id) as y;
