-- Three organizations with projects, people, tasks, comments and attachments. Each table has the organization's
-- number, as in many applications, and views join by it only where they join by a key, too. Then posts in communities, with counts in a
-- table of their own, and votes; and notes on anything, without a foreign key.
create schema app;
create schema search;

create table app.orgs (id int primary key, name text not null);
create table app.people (id int primary key, org_id int not null references app.orgs, name text not null);
create table app.projects (id int primary key, org_id int not null references app.orgs,
                           lead_id int references app.people, name text not null);
create table app.tasks (id int primary key, org_id int not null references app.orgs,
                        project_id int not null references app.projects, assignee_id int references app.people,
                        title text not null);
create table app.comments (id int primary key, org_id int not null references app.orgs,
                           task_id int not null references app.tasks on delete cascade,
                           author_id int not null references app.people, body text not null);
create table app.attachments (id int primary key, org_id int not null references app.orgs,
                              task_id int not null references app.tasks on delete cascade,
                              uploader_id int references app.people, name text not null);
create index on app.tasks (project_id);
create index on app.tasks (assignee_id);
create index on app.comments (task_id);
create index on app.comments (author_id);
create index on app.attachments (task_id);

create table app.communities (id int primary key, title text not null);
create table app.posts (id int primary key, community_id int not null references app.communities,
                        creator_id int not null references app.people, name text not null);
create table app.post_aggregates (post_id int primary key references app.posts on delete cascade,
                                  community_id int not null references app.communities,
                                  creator_id int not null references app.people, comments int not null);
create table app.post_likes (post_id int references app.posts on delete cascade, person_id int references app.people,
                             score int not null, primary key (post_id, person_id));
create table app.notes (id int primary key, about text not null, number int not null, text text not null); -- no foreign key
create index on app.posts (community_id);
create index on app.posts (creator_id);

-- Joined by what the rows mean; a person must be of the task's organization.
create view search.tasks as
select t.id as _id, t.title, o.name as org, p.name as project, person.name as assignee, leader.name as lead,
       (select json_agg(json_build_object('body', c.body, 'author', a.name) order by c.id)
        from app.comments c join app.people a on a.id = c.author_id where c.task_id = t.id) as comments,
       (select json_agg(x.name order by x.id) from app.attachments x where x.task_id = t.id and x.org_id = t.org_id) as attachments
from app.tasks t
join app.orgs o on o.id = t.org_id
join app.projects p on p.id = t.project_id
left join app.people person on person.id = t.assignee_id and person.org_id = t.org_id
left join app.people leader on leader.id = p.lead_id;

create view search.posts as
select p.id as _id, p.name, c.title as community, person.name as creator, coalesce(agg.comments, 0) as comments,
       (select coalesce(sum(l.score), 0) from app.post_likes l where l.post_id = p.id) as score
from app.posts p
join app.communities c on c.id = p.community_id
join app.people person on person.id = p.creator_id
left join app.post_aggregates agg on agg.post_id = p.id;

-- A union, exists, lateral, a nested view, and joins without a foreign key.
create view app.people_of_tasks as
select t.id as task_id, t.assignee_id as person_id from app.tasks t where t.assignee_id is not null
union
select c.task_id, c.author_id from app.comments c;

create view search.everything as
select t.id as _id, t.title,
       (select json_agg(h.name order by h.id) from app.people_of_tasks w join app.people h on h.id = w.person_id
        where w.task_id = t.id) as people,
       exists (select from app.attachments x join app.people u on u.id = x.uploader_id
               where x.task_id = t.id) as is_attached,
       latest.body as latest,
       (select json_agg(n.text order by n.id) from app.notes n where n.about = 'task' and n.number = t.id) as notes
from app.tasks t
left join lateral (select c.body from app.comments c where c.task_id = t.id order by c.id desc limit 1) as latest on true;

insert into app.orgs select i, 'org ' || i from generate_series(1, 3) as i;
insert into app.people select i, i % 3 + 1, 'person ' || i from generate_series(1, 300) as i;
insert into app.projects select i, i % 3 + 1, i % 300 + 1, 'project ' || i from generate_series(1, 120) as i;
insert into app.tasks select i, i % 3 + 1, i % 120 + 1, nullif(i % 201, 0), 'task ' || i from generate_series(1, 600) as i;
insert into app.comments select i, (i % 600 + 1) % 3 + 1, i % 600 + 1, i * 7 % 300 + 1, 'comment ' || i from generate_series(1, 900) as i;
insert into app.attachments
select i, (i % 600 + 1) % 3 + 1, i % 600 + 1, nullif(i * 11 % 300, 0), 'file ' || i from generate_series(1, 400) as i;
insert into app.communities select i, 'community ' || i from generate_series(1, 20) as i;
insert into app.posts select i, i % 20 + 1, i % 300 + 1, 'post ' || i from generate_series(1, 600) as i;
insert into app.post_aggregates select i, i % 20 + 1, i % 300 + 1, i from generate_series(1, 500) as i;
insert into app.post_likes select i % 600 + 1, i % 299 + 1, 1 from generate_series(1, 900) as i on conflict do nothing;
insert into app.notes select i, case when i % 3 = 0 then 'post' else 'task' end, i, 'note ' || i from generate_series(1, 300) as i;
analyze;
