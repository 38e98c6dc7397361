// The source in memory, which the unit tests trust, under the contract of a source.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "tests/contract/source_contract.h"
#include "tests/support/fake_source.h"
#include "tests/support/fake_watch.h"

namespace lockstep {
namespace {

constexpr IndexId kDocs{1};
constexpr IndexId kParcels{2};
constexpr CaptureId kThings{10};  // by their keys, which are the ids of `docs`
constexpr CaptureId kParts{11};   // by the ids of their things
constexpr CaptureId kParcelRows{20};
constexpr CaptureId kTowns{21};  // which lead to their parcels

/// The rows that are committed.
struct Tables {
  std::map<int, int> things;         // n
  std::map<int, int> parts;          // thing
  std::map<int, std::string> towns;  // name
  std::map<int, int> parcels;        // town
};

AppliedPipeline pipeline_of_contract() {
  AppliedPipeline pipeline;
  pipeline.id = 1;
  pipeline.name = "contract";
  pipeline.identity = "an identity";
  pipeline.revision = "1";
  AppliedIndex docs;
  docs.id = kDocs;
  docs.alias = docs.view = "docs";
  docs.captures = {kThings, kParts};
  AppliedIndex parcels;
  parcels.id = kParcels;
  parcels.alias = parcels.view = "parcels";
  parcels.routed = true;
  parcels.captures = {kParcelRows, kTowns};
  pipeline.indices = {docs, parcels};
  return pipeline;
}

/// Tables and their views, and what triggers on the tables would write.
class Server {
 public:
  Server() : database(pipeline_of_contract()) {
    database.read_pages_beside();
    database.resolve_with(kParcels, kTowns, [](const fake::State& state, const std::string& town) {
      Values ids;
      const auto parcels = state.views.find(kParcels);
      if (parcels == state.views.end()) return ids;
      for (const auto& [id, row] : parcels->second) {
        if (row.json.ends_with("\"_town\":" + town + "}")) ids.push_back(id);
      }
      return ids;
    });
    for (const IndexId index : {kDocs, kParcels}) database.add_job(index, JobKind::kBackfill);
  }

  fake::Database database;
  Tables tables;
};

/// What one statement has changed.
struct Written {
  CaptureId capture;
  Values values;
  bool everything = false;
  std::vector<int> things = {};   ///< whose documents may differ now
  std::vector<int> parcels = {};  ///< whose documents may differ now
};
using Statement = std::function<Written(Tables&)>;

std::string document_of(const Tables& tables, int thing) {
  std::string parts;
  for (const auto& [id, of_thing] : tables.parts) {
    if (of_thing == thing) parts += (parts.empty() ? "" : ",") + std::to_string(id);
  }
  return "{\"n\":" + std::to_string(tables.things.at(thing)) +
         ",\"parts\":" + (parts.empty() ? "null" : "[" + parts + "]") + "}";
}

class FakeWriter final : public SourceWriter {
 public:
  enum class Commits { kDurable, kLazy };
  FakeWriter(Server& server, Commits commits) : server_(server), commits_(commits) {}
  ~FakeWriter() override { end(); }

  void begin() override { is_open_ = true; }
  void savepoint() override { savepoint_ = statements_.size(); }
  void rollback_to_savepoint() override { statements_.resize(savepoint_); }
  void commit() override {
    server_.database.set_durable(commits_ == Commits::kDurable);
    server_.database.commit([&](fake::Change& change) {
      for (const Statement& statement : statements_) apply(statement(server_.tables), change);
    });
    end();
  }
  void rollback() override { end(); }

  void insert_thing(int id, int n) override {
    write([=](Tables& tables) { return tables.things[id] = n, things({id}); });
  }
  void insert_things(int first, int last) override {
    write([=](Tables& tables) {
      std::vector<int> ids;
      for (int id = first; id <= last; ++id) tables.things[id] = 0, ids.push_back(id);
      return things(ids);
    });
  }
  void set_n(int id, int n) override {
    write([=](Tables& tables) { return tables.things.at(id) = n, things({id}); });
  }
  void set_every_n(int n) override {
    write([=](Tables& tables) {
      for (auto& [id, old_n] : tables.things) old_n = n;
      return things(keys_of(tables.things));
    });
  }
  void renumber_thing(int id, int new_id) override {
    write([=](Tables& tables) {
      auto thing = tables.things.extract(id);
      thing.key() = new_id;
      tables.things.insert(std::move(thing));
      return things({id, new_id});
    });
  }
  void delete_thing(int id) override {
    write([=](Tables& tables) { return tables.things.erase(id), things({id}); });
  }
  void delete_things() override {
    write([=](Tables& tables) { return things(keys_of(std::exchange(tables.things, {}))); });
  }
  void truncate_things() override {
    write([=](Tables& tables) {
      Written written = things(keys_of(std::exchange(tables.things, {})));
      written.everything = true;
      return written;
    });
  }

  void insert_part(int id, int thing) override {
    write([=](Tables& tables) { return tables.parts[id] = thing, parts({thing}); });
  }
  void move_part(int id, int thing) override {
    write([=](Tables& tables) { return parts({std::exchange(tables.parts.at(id), thing), thing}); });
  }
  void delete_part(int id) override {
    write([=](Tables& tables) {
      const int thing = tables.parts.at(id);
      tables.parts.erase(id);
      return parts({thing});
    });
  }

  void insert_town(int id, const std::string& name) override { set_town(id, name); }
  void rename_town(int id, const std::string& name) override { set_town(id, name); }
  void insert_parcel(int id, int town) override {
    write([=](Tables& tables) { return tables.parcels[id] = town, parcels({id}); });
  }
  void move_parcel(int id, int town) override { insert_parcel(id, town); }
  void delete_parcel(int id) override {
    write([=](Tables& tables) { return tables.parcels.erase(id), parcels({id}); });
  }

 private:
  static Values texts(const std::vector<int>& numbers) {
    std::set<std::string> texts;
    for (const int number : numbers) texts.insert(std::to_string(number));
    return {texts.begin(), texts.end()};
  }
  static std::vector<int> keys_of(const std::map<int, int>& table) {
    std::vector<int> keys;
    for (const auto& [key, value] : table) keys.push_back(key);
    return keys;
  }
  static Written things(const std::vector<int>& ids) { return {kThings, texts(ids), false, ids}; }
  static Written parts(const std::vector<int>& things) { return {kParts, texts(things), false, things}; }
  static Written parcels(const std::vector<int>& ids) { return {kParcelRows, texts(ids), false, {}, ids}; }

  void set_town(int id, const std::string& name) {
    write([=](Tables& tables) {
      tables.towns[id] = name;
      Written written{kTowns, texts({id})};
      for (const auto& [parcel, town] : tables.parcels) {
        if (town == id) written.parcels.push_back(parcel);
      }
      return written;
    });
  }

  void write(Statement statement) {
    // Its triggers write nothing, now or later.
    if (!is_uncaptured_ && !server_.database.captures()) {
      is_uncaptured_ = true;
      server_.database.begin_uncaptured();
    }
    statements_.push_back(std::move(statement));
    if (!is_open_) commit();
  }

  void apply(const Written& written, fake::Change& change) const {
    if (!is_uncaptured_ && !written.values.empty()) {
      if (written.everything) {
        change.truncated(written.capture);
      } else {
        change.captured(written.capture, written.values);
      }
    }
    const Tables& tables = server_.tables;
    for (const int id : written.things) {
      const auto thing = tables.things.find(id);
      if (thing == tables.things.end() || thing->second < 0) {
        change.remove(kDocs, std::to_string(id));
      } else {
        change.put(kDocs, std::to_string(id), document_of(tables, id));
      }
    }
    for (const int id : written.parcels) {
      const auto parcel = tables.parcels.find(id);
      if (parcel == tables.parcels.end()) {
        change.remove(kParcels, std::to_string(id));
        continue;
      }
      const auto town = tables.towns.find(parcel->second);
      const std::string name = town == tables.towns.end() ? "" : town->second;
      change.put(kParcels, std::to_string(id),
                 "{\"town\":\"" + name + "\",\"_town\":" + std::to_string(parcel->second) + "}", name);
    }
  }

  void end() {
    if (std::exchange(is_uncaptured_, false)) server_.database.end_uncaptured();
    statements_.clear();
    is_open_ = false;
  }

  Server& server_;
  const Commits commits_;
  std::vector<Statement> statements_;  // of the open transaction, which does them when it commits
  std::size_t savepoint_ = 0;
  bool is_open_ = false;
  bool is_uncaptured_ = false;
};

class FakeWorld final : public SourceWorld {
 public:
  std::unique_ptr<Source> open() override { return std::make_unique<fake::FakeSource>(server_.database); }
  std::unique_ptr<SourceWriter> writer() override {
    return std::make_unique<FakeWriter>(server_, FakeWriter::Commits::kDurable);
  }
  std::unique_ptr<SourceWriter> lazy_writer() override {
    return std::make_unique<FakeWriter>(server_, FakeWriter::Commits::kLazy);
  }
  bool is_durable() override { return server_.database.is_durable(); }
  std::unique_ptr<AppliedWatch> watch() override {
    return std::make_unique<fake::FakeAppliedWatch>(server_.database);
  }
  std::unique_ptr<StatusReader> status() override {
    return std::make_unique<fake::FakeStatusReader>(server_.database);
  }

  void break_view() override { server_.database.set_readable(kDocs, false); }
  void mend_view() override { server_.database.set_readable(kDocs, true); }

  void age_outbox() override {}  // it is pruned at any age
  void fill_outbox() override { server_.database.give_up(); }

 private:
  Server server_;
};

const auto kFake = testing::Values(MakeWorld{[] { return std::make_unique<FakeWorld>(); }});
const auto kFakeName = [](const auto&) { return std::string("Fake"); };

INSTANTIATE_TEST_SUITE_P(Fake, SourceContract, kFake, kFakeName);
INSTANTIATE_TEST_SUITE_P(Fake, SnapshotSourceContract, kFake, kFakeName);
INSTANTIATE_TEST_SUITE_P(Fake, PagesSourceContract, kFake, kFakeName);
INSTANTIATE_TEST_SUITE_P(Fake, ConcurrentSourceContract, kFake, kFakeName);
INSTANTIATE_TEST_SUITE_P(Fake, WatchedSourceContract, kFake, kFakeName);
INSTANTIATE_TEST_SUITE_P(Fake, ReindexedSourceContract, kFake, kFakeName);

}  // namespace
}  // namespace lockstep
