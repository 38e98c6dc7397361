-- Rooms whose names change over time, and bookings of a time that several of them may cover. PostgreSQL 18 and newer.
create extension btree_gist;
create schema hotel;
create table hotel.rooms (
  id int, valid daterange not null, name text not null,
  primary key (id, valid without overlaps)
);
create table hotel.bookings (
  id int primary key, room_id int not null, during daterange not null, guest text,
  foreign key (room_id, period during) references hotel.rooms (id, period valid)
);
insert into hotel.rooms
select n, daterange('2026-01-01', '2026-07-01'), 'room ' || n from generate_series(1, 12) as n
union all
select n, daterange('2026-07-01', '2027-01-01'), 'renovated room ' || n from generate_series(1, 12) as n;
insert into hotel.bookings
select n, n % 12 + 1, daterange('2026-06-15'::date + n, '2026-06-25'::date + n), 'guest ' || n
from generate_series(1, 24) as n;
