-- Fills blog with made-up users and posts: psql -d DATABASE [-v users=2000] [-v posts=20000] [-v seed=1] -f sample.sql
--
-- The same numbers give the same rows. Names occur more than once, as they do; one post in fifty has no author; one user
-- in ten has written nothing; the first of the new users is "John Smith" and has a tenth of the posts, so that renaming
-- them changes many documents. Run again, it adds as many again.
\set ON_ERROR_STOP on
\if :{?users} \else \set users 2000 \endif
\if :{?posts} \else \set posts 20000 \endif
\if :{?seed} \else \set seed 1 \endif
begin;
select coalesce(max(id), 0) as base from blog.users \gset
select setseed(1.0 / (1 + :seed)) as seeded \gset

insert into blog.users (id, name, email, dob)
select :base + n,
       case when n = 1 then 'John Smith' else
         (array['Alice','Amira','Anna','Bruno','Carla','Chen','Clinton','Dana','Elena','Farid','Grace','Hugo','Ines','Ivan',
                'John','Jun','Kofi','Lena','Luca','Maria','Mei','Nora','Omar','Priya','Rosa','Sami','Sofia','Tom','Yuki','Zoe'])
           [1 + floor(random() * 30)] || ' ' ||
         (array['Smith','John','Gormley','Tong','Müller','García','Rossi','Novák','Dubois','Silva','Kim','Tanaka','Wang','Singh',
                'Okafor','Larsen','Kowalski','Haddad','Moreau','Jensen','Costa','Ivanova','Nguyen','Ali','Brown'])
           [1 + floor(random() * 25)] end,
       'user' || :base + n || '@example.org',
       date '1950-01-01' + floor(random() * 20000)::integer
from generate_series(1, :users) n;

-- Titles of 3 to 6 words, bodies of 20 to 60, from a vocabulary in which the first words are the most frequent.
insert into blog.blogposts (title, body, user_id)
select (select upper(left(string_agg(word, ' '), 1)) || substr(string_agg(word, ' '), 2)
        from (select words[1 + floor(array_length(words, 1) * random() ^ 1.5)] as word
              from generate_series(1, 3 + n % 4)) title),
       (select string_agg(word, ' ') || '.'
        from (select words[1 + floor(array_length(words, 1) * random() ^ 1.5)] as word
              from generate_series(1, 20 + n % 41)) body),
       case when n % 50 = 0 then null
            when n % 10 = 1 then :base + 1
            else :base + 1 + floor(random() * greatest(1, :users * 0.9))::bigint end
from generate_series(1, :posts) n,
     (select array['relationships','search','are','the','it','complicated','not','a','cool','document','nested','parent','child',
                   'query','index','filter','score','shard','replica','mapping','analyzer','token','term','field','routing',
                   'cluster','node','lock','version','conflict','database','table','row','view','trigger','commit','snapshot',
                   'transaction','directory','file','rename','tree','path','garden','river','mountain','coffee','train',
                   'morning','winter','letter','music','bridge','island','window','market','story','language','summer',
                   'harbour','lantern','compass','meadow','orchard','thunder','velvet','whisper','zephyr'] as words) vocabulary;

select setval(pg_get_serial_sequence('blog.users', 'id'), max(id)) as next_user from blog.users \gset
commit;
analyze blog.users, blog.blogposts;
