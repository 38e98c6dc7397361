-- A shop of music in the shape of Chinook: names in capitals, keys of two columns, a table of links, employees below employees,
-- types that mean nothing to SQLite. With rows in every table.
create table "Artist" ("ArtistId" integer primary key, "Name" nvarchar(120));
create table "Album" (
  "AlbumId" integer primary key, "Title" nvarchar(160) not null, "ArtistId" integer not null references "Artist" ("ArtistId")
);
create table "Genre" ("GenreId" integer primary key, "Name" nvarchar(120));
create table "MediaType" ("MediaTypeId" integer primary key, "Name" nvarchar(120));
create table "Track" (
  "TrackId" integer primary key, "Name" nvarchar(200) not null, "AlbumId" integer references "Album", "MediaTypeId" integer,
  "GenreId" integer references "Genre", "Composer" nvarchar(220), "Milliseconds" integer not null,
  "UnitPrice" numeric(10, 2) not null, "Cover" blob, "Facts" json,
  foreign key ("MediaTypeId") references "MediaType" ("MediaTypeId")
);
create index "Track_AlbumId" on "Track" ("AlbumId");
create table "Playlist" ("PlaylistId" integer primary key, "Name" nvarchar(120));
create table "PlaylistTrack" (
  "PlaylistId" integer not null references "Playlist" on delete cascade,
  "TrackId" integer not null references "Track" on delete cascade,
  primary key ("PlaylistId", "TrackId")
);
create table "Employee" (
  "EmployeeId" integer primary key, "LastName" nvarchar(20) not null, "ReportsTo" integer references "Employee",
  "HireDate" datetime
);
create table "Customer" (
  "CustomerId" integer primary key, "FirstName" nvarchar(40) not null, "SupportRepId" integer references "Employee" ("EmployeeId")
);
create table "Invoice" (
  "InvoiceId" integer primary key, "CustomerId" integer not null references "Customer", "InvoiceDate" datetime not null,
  "Total" numeric(10, 2) not null
);
create table "InvoiceLine" (
  "InvoiceId" integer not null references "Invoice", "Line" integer not null, "TrackId" integer not null references "Track",
  "Quantity" integer not null, primary key ("InvoiceId", "Line")
) without rowid;
create table "Refund" (
  "RefundId" integer primary key, "InvoiceId" integer not null, "Line" integer not null, "Reason" text,
  foreign key ("InvoiceId", "Line") references "InvoiceLine" ("InvoiceId", "Line")
);

with recursive n (i) as (select 1 union all select i + 1 from n where i < 12)
insert into "Artist" select i, 'artist ' || i from n;
insert into "Album" select "ArtistId", 'album ' || "ArtistId", "ArtistId" % 4 + 1 from "Artist";
insert into "Genre" select "ArtistId", 'genre ' || "ArtistId" from "Artist" limit 4;
insert into "MediaType" select "ArtistId", 'type ' || "ArtistId" from "Artist" limit 3;
insert into "Track"
  select "ArtistId", 'track ' || "ArtistId", "ArtistId" % 6 + 1, "ArtistId" % 3 + 1, nullif("ArtistId" % 5, 0), null,
         100000 + "ArtistId", 0.99, x'00ff', '{"bpm": 120}'
  from "Artist";
insert into "Playlist" select "ArtistId", 'list ' || "ArtistId" from "Artist" limit 5;
insert into "PlaylistTrack" select p."PlaylistId", t."TrackId" from "Playlist" as p, "Track" as t where t."TrackId" % p."PlaylistId" = 0;
insert into "Employee" select "ArtistId", 'employee ' || "ArtistId", nullif("ArtistId" / 2, 0), '2002-08-14 00:00:00'
  from "Artist" limit 6;
insert into "Customer" select "ArtistId", 'customer ' || "ArtistId", "ArtistId" % 6 + 1 from "Artist";
insert into "Invoice" select "ArtistId", "ArtistId" % 7 + 1, '2009-01-01 00:00:00', "ArtistId" + 0.5 from "Artist";
insert into "InvoiceLine" select i."InvoiceId", l."GenreId", (i."InvoiceId" + l."GenreId") % 12 + 1, 1 from "Invoice" as i, "Genre" as l;
insert into "Refund" select "ArtistId", "ArtistId", "ArtistId" % 4 + 1, 'broken' from "Artist";

-- Joins by comma, by using, and by a key of two columns.
create view tracks as
select t."TrackId" as _id, t."Name" as name, t."UnitPrice" as price, al."Title" as album, ar."Name" as artist, t."Facts" as facts,
       (select json_group_array(p."Name")
        from (select pl."Name" from "PlaylistTrack" as pt join "Playlist" as pl using ("PlaylistId")
              where pt."TrackId" = t."TrackId" order by pl."PlaylistId") as p) as lists,
       (select json_group_array(json_object('on', s."InvoiceDate", 'by', s."FirstName"))
        from (select i."InvoiceDate", c."FirstName" from "InvoiceLine" as l, "Invoice" as i, "Customer" as c
              where l."TrackId" = t."TrackId" and i."InvoiceId" = l."InvoiceId" and i."CustomerId" = c."CustomerId"
              order by l."InvoiceId", l."Line") as s) as sales,
       (select max(r."Reason") from "Refund" as r join "InvoiceLine" as l on l."InvoiceId" = r."InvoiceId" and l."Line" = r."Line"
        where l."TrackId" = t."TrackId") as refunded
from "Track" as t
left join "Album" as al on al."AlbumId" = t."AlbumId"
left join "Artist" as ar on ar."ArtistId" = al."ArtistId";
