-- Fills blog with made-up users and posts, as schema/blog/postgresql/sample.sql does: 2,000 users and 20,000 posts, at random.
-- Names occur more than once; one post in fifty has no author; the first of the new users is "John Smith" and has a tenth of
-- the posts, so that renaming them changes many documents. Run again, it adds as many again.
--
--   sqlite3 blog.db < sample.sql
begin immediate;
create temp table sample (base, first, last, words);
insert into sample values (
  (select coalesce(max(id), 0) from users),
  '["Alice","Amira","Anna","Bruno","Carla","Chen","Clinton","Dana","Elena","Farid","Grace","Hugo","Ines","Ivan","John","Jun"]',
  '["Smith","John","Gormley","Tong","Müller","García","Rossi","Novák","Dubois","Silva","Kim","Tanaka","Wang","Singh","Costa"]',
  '["relationships","search","are","the","it","complicated","not","a","cool","document","nested","parent","child","query",
    "index","filter","score","shard","replica","mapping","analyzer","token","term","field","routing","cluster"]');

insert into users (id, name, email, dob)
with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)
select base + i,
       case when i = 1 then 'John Smith' else
         json_extract(first, '$[' || abs(random() % json_array_length(first)) || ']') || ' ' ||
         json_extract(last, '$[' || abs(random() % json_array_length(last)) || ']') end,
       'user' || (base + i) || '@example.org',
       date('1950-01-01', '+' || abs(random() % 20000) || ' days')
from n, sample;

-- Titles of 4 words, bodies of 20.
insert into blogposts (title, body, user_id)
with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
select (select group_concat(json_extract(words, '$[' || abs((random() + value) % json_array_length(words)) || ']'), ' ')
        from json_each('[1,2,3,4]')),
       (select group_concat(json_extract(words, '$[' || abs((random() + value) % json_array_length(words)) || ']'), ' ') || '.'
        from json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]')),
       case when i % 50 = 0 then null when i % 10 = 1 then base + 1 else base + 1 + abs(random() % 1800) end
from n, sample;
drop table sample;
commit;
