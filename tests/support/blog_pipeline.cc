#include "tests/support/blog_pipeline.h"

#include <iostream>
#include <stdexcept>

namespace lockstep::support {
namespace {

constexpr const char* kSchema = R"(
create schema blog;
create schema search;
create table blog.authors (id integer primary key, name text not null, email text, bio text);
create table blog.posts (
  id        integer primary key,
  author_id integer references blog.authors on delete set null on update cascade,
  title     text not null,
  body      text,
  visible   boolean not null default true,
  seen      integer not null default 0
);
create index on blog.posts (author_id);
create table blog.comments (
  id      integer primary key,
  post_id integer references blog.posts on delete cascade on update cascade,
  text    text not null
);
create index on blog.comments (post_id);
create view search.posts as
select p.id as _id, p.author_id as _author_id, p.title, p.body, a.name as author,
       (select array_agg(c.text order by c.id) from blog.comments c where c.post_id = p.id) as comments
from blog.posts p left join blog.authors a on a.id = p.author_id
where p.visible;
insert into blog.authors select i, 'author ' || i, 'a' || i || '@example.org' from generate_series(1, 5) i;
insert into blog.posts (id, author_id, title) select i, 1 + i % 5, 'post ' || i from generate_series(1, 20) i;
insert into blog.comments select i, 1 + i % 20, 'comment ' || i from generate_series(1, 30) i;
)";

}  // namespace

std::string blog_tracks() {
  return track("blog.posts") + track("blog.authors", {{"column", "_author_id"}}) +
         track("blog.comments", {{"row", "post_id"}});
}

BlogTest::BlogTest()
    : pipeline_((database_.execute(kSchema), database_), proxy_.url()),
      posts_(pipeline_.add_index("posts", "search.posts", blog_tracks())) {}

void BlogTest::TearDown() {
  if (HasFailure() && program_ != nullptr)
    std::cout << "the program wrote:\n" << program_->err() << std::endl;
  for (const std::string& violation : proxy_.history().violations()) ADD_FAILURE() << violation;
}

void BlogTest::bring_up() {
  pipeline_.apply();
  pipeline_.catch_up();
}

void BlogTest::follow() {
  bring_up();
  restart();
  if (!wait_until([&] { return leads(); }, kPatience))
    throw std::runtime_error("lockstep does not lead: " + program_->err());
}

bool BlogTest::leads() const {
  return program_->err().find("leading pipeline") != std::string::npos;
}

void BlogTest::kill() {
  if (program_ != nullptr) program_->kill();
}

void BlogTest::restart() {
  kill();
  program_ = pipeline_.start();
}

std::string BlogTest::endpoint() {
  return http_endpoint(*program_);
}

std::string BlogTest::document(const std::string& id) const {
  const auto found = posts_.get(id);
  return found ? found->json : "none";
}

testing::AssertionResult BlogTest::becomes(const std::string& id, const std::string& json,
                                           std::chrono::milliseconds deadline) {
  if (wait_until([&] { return document(id) == json; }, deadline)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << id << " is still " << document(id) << ", not " << json;
}

testing::AssertionResult BlogTest::appears(const std::string& id) const {
  if (wait_until([&] { return posts_.get(id).has_value(); }, kPatience)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << id << " has not appeared";
}

testing::AssertionResult BlogTest::disappears(const std::string& id) const {
  if (wait_until([&] { return !posts_.get(id); }, kPatience)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << id << " is still there: " << document(id);
}

testing::AssertionResult BlogTest::becomes_equal() {
  const std::string difference = pipeline_.difference_within(kPatience);
  if (difference.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << difference;
}

testing::AssertionResult BlogTest::is_equal() {
  const std::string difference = pipeline_.difference();
  if (difference.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << difference;
}

}  // namespace lockstep::support
