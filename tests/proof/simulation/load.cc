// What happens to the database and to Elasticsearch while there is load.
#include <algorithm>

#include "replicator/error.h"
#include "replicator/pipeline/leadership.h"
#include "tests/proof/simulation/simulation.h"

namespace lockstep::simulation {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto kGcDeletes = 60s;

// Until the program has seen that the alias leads elsewhere.
constexpr auto kUntilSeen = 120s;

const std::vector<std::string> kUsers{"ann", "bob", "eve"};
const std::vector<std::string> kRoutings{"r0", "r1", "r2"};

std::string commit_text(std::int64_t commit) {
  return "commit " + std::to_string(commit) + " ";
}

}  // namespace

// --- writers ---

void Simulation::write(int writer) {
  each_event("writer" + std::to_string(writer), traits_.between_writes, [this](Event& event) {
    if (event.lot.one_in(10)) fibers_.sleep(event.lot.about(2s * traits_.pace));
    if (!load_is_over_ && !is_away_) write_once(event);
  });
}

std::int64_t Simulation::begin_commit() {
  if (world_.database.is_durable()) durable_ = commit_;
  return ++commit_;
}

void Simulation::write_once(Event& event) {
  const Write kind = event.lot.one_of(traits_.writes);
  const std::string post = event.lot.one_of(traits_.posts);
  const std::string file = "f" + std::to_string(event.lot.below(10));
  const std::int64_t commit = begin_commit();
  const int n = static_cast<int>(commit);
  const auto does = [&](const std::string& what, std::size_t documents = 1) {
    begins(event, commit_text(commit) + what);
    due_ += static_cast<std::int64_t>(documents);
  };
  switch (kind) {
    case Write::kPutPost:
      does("puts post " + post);
      histories_.note(fake::kPosts, post, commit, true);
      return world_.put_post(post, event.lot.one_of(kUsers), n);
    case Write::kDeletePost:
      does("deletes post " + post);
      histories_.note(fake::kPosts, post, commit, false);
      return world_.remove_post(post);
    case Write::kRename: {
      const std::string user = event.lot.one_of(kUsers);
      does("renames " + user, traits_.posts.size());
      for (const auto& [id, row] : world_.database.snapshot()->view(fake::kPosts)) {
        if (row.json.starts_with(R"({"user":")" + user + "\""))
          histories_.note(fake::kPosts, id, commit, true);
      }
      return world_.rename_user(user, n);
    }
    case Write::kPutFile: {
      const std::string routing = event.lot.one_of(kRoutings);
      does("puts file " + file + " under " + routing);
      histories_.note(fake::kFiles, file, commit, true);
      return world_.put_file(file, routing, n);
    }
    case Write::kDeleteFile:
      does("deletes file " + file);
      histories_.note(fake::kFiles, file, commit, false);
      return world_.remove_file(file);
    case Write::kPutAll:
      does("puts all posts", traits_.posts.size());
      return world_.database.commit([&](fake::Change& change) {
        for (const std::string& id : traits_.posts) {
          change.put(fake::kPosts, id, R"({"user":"ann","n":)" + std::to_string(n) + "}");
          change.captured(fake::kPostRows, {id});
          histories_.note(fake::kPosts, id, commit, true);
        }
      });
    case Write::kTruncate:
      does("empties the table of posts");
      return world_.database.commit([&](fake::Change& change) {
        const fake::View posts = change.view(fake::kPosts);
        for (const auto& [id, row] : posts) {
          histories_.note(fake::kPosts, id, commit, false);
          change.remove(fake::kPosts, id);
        }
        change.truncated(fake::kPostRows);
        own_[fake::kPosts].is_awaited = false;
      });
    case Write::kPutRefused:
      does("puts post " + post + ", which Elasticsearch refuses");
      histories_.note(fake::kPosts, post, commit, true);
      histories_.note_refused(commit);
      return world_.put_post(post, kRefusedUser, n);
  }
}

void Simulation::change_own(IndexId id) {
  each_event("own_" + index(id).alias, 1s, [this, id](Event& event) {
    if (own_[id].is_awaited || is_away_) return;
    const std::int64_t commit = begin_commit();
    begins(event, commit_text(commit) + "changes a document of its own of " + index(id).alias);
    histories_.note(id, kOwnDocument, commit, true);
    own_[id] = {commit, fibers_.now(), true, own_[id].fair_since};
    ++due_;
    if (id == fake::kPosts) return world_.put_post(kOwnDocument, kOwnDocument, static_cast<int>(commit));
    world_.put_file(kOwnDocument, kOwnDocument, static_cast<int>(commit));
  });
}

// --- the network and Elasticsearch ---

void Simulation::change_weather() {
  each_event("weather", 4s, [this](Event& event) {
    const Weather weather = event.lot.one_in(3) ? Weather::kCalm : event.lot.one_of(traits_.weathers);
    std::vector<std::string> indices;  // and generations
    for (const AppliedIndex& each : world_.database.pipeline().indices) indices.push_back(each.target());
    const std::string drawn = event.lot.one_of(indices);
    const std::string index = traits_.bad_index.empty() ? drawn : traits_.bad_index;
    begins(event, std::string("the weather is ") + name_of(weather) + " (" + index + ")");
    network_.change(weather, index);
  });
}

void Simulation::forget_deletes() {
  while (true) {
    fibers_.sleep(kRefreshes);
    world_.elasticsearch.refresh_by_itself();
    world_.elasticsearch.forget_deletes(fibers_.now() - kGcDeletes);
  }
}

// --- operators ---

// As `lockstep verify --repair` does, for documents that something else has changed, and for others; and as
// `lockstep dead-letters retry` does.
void Simulation::operate() {
  each_event("operator", 2s, [this](Event& event) {
    if (event.lot.one_in(4)) {
      begins(event, "dead letters are tried again");
      return retry_dead_letters();
    }
    std::vector<std::string> ids;
    for (std::uint32_t left = 1 + event.lot.below(8); left > 0; --left)
      ids.push_back(event.lot.one_of(traits_.posts));
    std::string text;
    for (const std::string& id : ids) text += " " + id;
    const bool is_damaged =
        event.lot.one_in(2) && !is_doubted() && !traits_.source_fails && world_.elasticsearch.has("posts");
    begins(event,
           (is_damaged ? "something else writes post " + ids.front() + ", and " : "") + "a repair of" + text);
    if (is_damaged) {
      strangers_[{generation("posts"), ids.front()}] = std::nullopt;
      world_.elasticsearch.damage("posts", ids.front(), R"({"user":"stranger","n":0})");
    }
    repair(ids);
  });
}

// Of both generations, if there are two.
void Simulation::repair(const std::vector<std::string>& ids) {
  std::vector<FoundDocument> documents;
  for (const std::string& each : ids) documents.push_back({DocumentId{each}, ""});
  due_ += std::ssize(ids);
  try {
    fake::FakeSource source(world_.database);
    const std::unique_ptr<SourceTransaction> transaction =
        static_cast<Source&>(source).changes().begin_repair();
    for (const AppliedIndex& each : source.pipeline().indices) {
      if (each.view == world_.posts().view)
        transaction->add_repair(each, documents, {.reason = "verify --repair"});
    }
    transaction->commit();
  } catch (const Error& error) {
    note(std::string("the repair fails: ") + error.what());
  }
}

void Simulation::retry_dead_letters() {
  std::vector<std::string> ids;
  for (const auto& [key, letter] : world_.database.snapshot()->dead_letters) {
    ids.push_back(std::get<1>(key));
  }
  if (!ids.empty()) repair(ids);
}

void Simulation::reindex() {
  each_event("command", 3s, [this](Event& event) { reindexer_.give_one(event); });
}

// --- the source ---

void Simulation::disturb_source() {
  each_event("source", 8s, [this](Event& event) {
    const std::uint32_t kind = event.lot.below(3);
    if (kind == 0) return crash(event);
    if (kind == 1 && backup_) return restore(event);
    if (!world_.database.is_durable()) return;
    begins(event, "the source is backed up");
    backup_ = world_.database.snapshot();
    backed_up_ = commit_;
  });
}

void Simulation::crash(Event& event) {
  if (world_.database.is_durable()) durable_ = commit_;
  const microseconds time = event.lot.about(1s);
  begins(event, "the source crashes, and loses what came after commit " + std::to_string(durable_));
  lost_.emplace_back(durable_, commit_);
  histories_.forget_after(durable_);
  ++doubts_;
  backup_.reset();
  world_.database.crash();
  world_.database.set_away(is_away_ = true);
  fibers_.sleep(time);
  world_.database.set_away(is_away_ = false);
}

// It takes longer than requests live: one of before that lands later is newer than what the comparison finds
// to be equal, and stays (README.md, "A limit"). The program can tell by the timeline, or by its own mark in
// the index, which has a greater epoch.
void Simulation::restore(Event& event) {
  world_.database.set_away(is_away_ = true);
  while (!network_.is_quiet() && outcome_.finding.empty()) fibers_.sleep(100ms);
  world_.database.set_away(is_away_ = false);
  const std::int64_t epoch = backup_->epoch.value;
  const bool is_seen_by_epoch = !exchanged_ && world_.elasticsearch.has("posts") &&
                                world_.elasticsearch.epoch("posts") > epoch &&
                                world_.elasticsearch.epoch("files") > epoch;
  const bool has_new_timeline = event.lot.one_in(2) || !is_seen_by_epoch;
  begins(event,
         std::string("the backup is put back") + (has_new_timeline ? ", with a timeline of its own" : ""));
  ++doubts_;  // the next epoch is above that of the backup, and those in the indices
  doubted_ = backup_->epoch;
  for (const AppliedIndex& each : world_.pipeline.indices) {
    if (world_.elasticsearch.has(each.alias))
      doubted_.value = std::max(doubted_.value, world_.elasticsearch.epoch(each.alias));
  }
  taken_back_.emplace_back(backed_up_, commit_);
  histories_.start_over(begin_commit(), [this](IndexId index, const std::string& id) {
    const fake::View& view = backup_->view(index);
    const auto row = view.find(id);
    return row == view.end() ? std::nullopt : std::optional(commit_of(row->second.json));
  });
  world_.database.restore(backup_);
  if (!has_new_timeline) return;
  SourceIdentity identity = world_.database.identity();
  identity.timeline += "+";
  world_.database.set_identity(identity);
}

// --- indices ---

void Simulation::doubt() {
  ++doubts_;
  doubted_ = world_.database.snapshot()->epoch;
}

bool Simulation::is_doubted() const {
  return exchanged_ || !moved_.empty() || world_.database.snapshot()->epoch <= doubted_;
}

void Simulation::disturb_indices() {
  each_event("index", 10s, [this](Event& event) {
    switch (event.lot.below(3)) {
      case 0:
        return replace(event);
      case 1:
        return remove(event);
      default:
        return exchange(event);
    }
  });
}

void Simulation::replace(Event& event) {
  begins(event, "an empty index takes the place of the posts'");
  doubt();
  histories_.forget_shown(fake::kPosts);
  world_.elasticsearch.replace("posts");
}

void Simulation::remove(Event& event) {
  const microseconds time = event.lot.about(event.lot.one_in(2) ? 20s : 2s);
  begins(event, "the index of the posts is deleted, and made again after " +
                    std::to_string(duration_cast<milliseconds>(time).count()) + " ms");
  doubt();
  histories_.forget_shown(fake::kPosts);
  world_.elasticsearch.remove("posts");
  fibers_.sleep(time);
  world_.elasticsearch.create("posts", world_.pipeline.identity);
  note("the index of the posts is made again");
  doubt();
}

// Until the program has seen it: what leads back sooner is not noticed (docs/reliability.md).
void Simulation::exchange(Event& event) {
  begins(event, "the alias of the posts leads to an index of another pipeline");
  doubt();
  exchanged_ = fibers_.now();
  network_.forget_looks();
  world_.elasticsearch.lead_elsewhere("posts", "another-identity");
  const auto is_seen = [&] {
    const KnownPartners partners = world_.database.snapshot()->partners;
    const auto target = partners.targets.find(fake::kPosts);
    return target != partners.targets.end() && target->second == kUnknownTarget;
  };
  while (!is_seen() && outcome_.finding.empty() && fibers_.now() < *exchanged_ + kUntilSeen)
    fibers_.sleep(100ms);
  fibers_.sleep(event.lot.about(10s));
  world_.elasticsearch.lead_back("posts");
  exchanged_.reset();
  note("the alias of the posts leads back");
  doubt();
}

}  // namespace lockstep::simulation
