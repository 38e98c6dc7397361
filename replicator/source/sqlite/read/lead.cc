#include "replicator/source/sqlite/read/lead.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "replicator/error.h"
#include "replicator/source/sqlite/read/changes.h"
#include "replicator/source/sqlite/session/statement.h"
#include "replicator/source/sqlite/session/transaction.h"
#include "replicator/unknown_value.h"

namespace lockstep {
namespace {

constexpr std::string_view kCheckpoint = "checkpoint";

SqliteStatement& required_row(SqliteStatement& row, const char* doing) {
  if (row.step()) return row;
  throw Error({doing, "the pipeline has no checkpoint", "run `lockstep apply`"});
}

IndexId index_of(const std::string& number) {
  IndexId index;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), index.value);
  if (fault == std::errc{} && end == number.data() + number.size()) return index;
  throw unfit_value("lockstep's table checkpoint", "partners", "\"" + number + "\"",
                    "the number of an index");
}

}  // namespace

bool SqliteLead::try_lead() {
  connection_.require_same_file();
  is_ours_ = lock_.try_exclusive();
  return is_ours_;
}

bool SqliteLead::is_led() {
  return is_ours_ || lock_.is_held_elsewhere();
}

SourceIdentity SqliteLead::identity() {
  const SqliteSnapshot snapshot(connection_, "asking the source who it is");
  SqliteStatement row(connection_, "asking the source who it is", "select token, mark from {schema}_file");
  if (!row.step())
    throw Error({"asking the source who it is", "lockstep's table file is empty", "run `lockstep apply`"});
  return {connection_.file().place(), stored_text(row[1], "file"), newest_outbox_id(connection_),
          stored_text(row[0], "file")};
}

Epoch SqliteLead::epoch() {
  return stored_epoch(connection_, pipeline_.id());
}

KnownPartners SqliteLead::known_partners() {
  constexpr const char* kDoing = "loading what is known of both sides";
  SqliteStatement row(connection_, kDoing, "select partners from {schema}_checkpoint where pipeline = ?1",
                      pipeline_.id());
  const std::string text = stored_text(required_row(row, kDoing)[0], kCheckpoint);
  KnownPartners partners;
  try {
    const nlohmann::json stored = nlohmann::json::parse(text);
    if (stored == nlohmann::json::object()) return partners;  // nobody has led
    partners.place = stored.at("place");
    partners.quiet = stored.value("quiet", false);
    for (const auto& [index, uuid] : stored.at("targets").items())
      partners.targets[index_of(index)] = uuid.get<std::string>();
  } catch (const nlohmann::json::exception&) {
    throw unfit_value("lockstep's table checkpoint", "partners", text, "what a leader notes of both sides");
  }
  return partners;
}

Epoch SqliteLead::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  constexpr const char* kDoing = "raising the epoch";
  nlohmann::json targets = nlohmann::json::object();
  for (const auto& [index, uuid] : partners.targets) targets[std::to_string(index.value)] = uuid;
  const nlohmann::json known = {{"place", partners.place}, {"quiet", false}, {"targets", targets}};
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_checkpoint set epoch = max(coalesce(epoch, 0), ?2) + 1, partners = ?3 "
                  "where pipeline = ?1",
                  pipeline_.id(), at_least.value, known.dump())
      .run();
  const Epoch raised = stored_epoch(connection_, pipeline_.id());
  write.commit(kDoing);
  connection_.sync();
  return raised;
}

void SqliteLead::note_quiet(Epoch epoch) {
  constexpr const char* kDoing = "noting that nothing is on its way";
  SqliteWrite write(connection_, kDoing);
  SqliteStatement(connection_, kDoing,
                  "update {schema}_checkpoint set partners = json_set(partners, '$.quiet', json('true')) "
                  "where pipeline = ?1 and epoch = ?2",
                  pipeline_.id(), epoch.value)
      .run();
  write.commit(kDoing);
  connection_.sync();
}

Epoch stored_epoch(SqliteConnection& connection, int pipeline) {
  constexpr const char* kDoing = "loading the epoch";
  SqliteStatement row(connection, kDoing, "select epoch from {schema}_checkpoint where pipeline = ?1",
                      pipeline);
  return {stored_integer(required_row(row, kDoing)[0], kCheckpoint)};
}

void mark_as_gone_back(SqliteConnection& connection) {
  constexpr const char* kDoing = "noting that the source went back";
  SqliteWrite write(connection, kDoing);
  connection.execute(kDoing, "update {schema}_file set mark = lower(hex(randomblob(16)))");
  write.commit(kDoing);
  connection.sync();
}

}  // namespace lockstep
