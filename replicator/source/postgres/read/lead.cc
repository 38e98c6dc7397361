#include "replicator/source/postgres/read/lead.h"

#include <string>
#include <vector>

#include "replicator/error.h"
#include "replicator/source/postgres/session/array.h"
#include "replicator/source/postgres/session/statement.h"

namespace lockstep {
namespace {

Epoch epoch_of(const pqxx::result& row, const char* doing) {
  if (row.empty()) throw Error({doing, "the pipeline has no checkpoint", "run `lockstep apply`"});
  return Epoch{row[0][0].as<std::int64_t>()};
}

}  // namespace

bool PostgresLead::try_lead() {
  if (session_.ask("asking whether the source is a standby", "select pg_is_in_recovery()")[0][0].as<bool>()) {
    throw Error(
        {"taking the lead", "the source is a standby",
         "let source.url name the primary (a standby cannot tell which transactions are still running)",
         Retry::kLater, Server::kSource});
  }
  return session_
      .ask("taking the lead", "select pg_try_advisory_lock(hashtextextended($1, 0))",
           pipeline_.applied.identity)[0][0]
      .as<bool>();
}

bool PostgresLead::is_led() {
  return session_
      .ask("asking whether somebody leads", postgres_sql("is_led"), pipeline_.applied.identity)[0][0]
      .as<bool>();
}

SourceIdentity PostgresLead::identity() {
  const pqxx::result row = session_.ask("asking the source who it is", postgres_sql("identify_source"));
  return {row[0][0].c_str(), row[0][1].c_str(), row[0][2].as<std::int64_t>()};
}

Epoch PostgresLead::epoch() {
  constexpr const char* kDoing = "loading the epoch";
  return epoch_of(
      session_.ask(kDoing, "select epoch from {schema}.checkpoint where pipeline = $1", pipeline_.id()),
      kDoing);
}

KnownPartners PostgresLead::known_partners() {
  KnownPartners partners;
  for (const pqxx::row& row :
       session_.ask("loading what is known of both sides", postgres_sql("load_partners"), pipeline_.id())) {
    partners.place = row[0].c_str();
    partners.quiet = row[1].as<bool>();
    if (!row[2].is_null()) partners.targets[IndexId{row[2].as<int>()}] = row[3].c_str();
  }
  return partners;
}

Epoch PostgresLead::raise_epoch(Epoch at_least, const KnownPartners& partners) {
  std::vector<IndexId> indices;
  std::vector<std::string> uuids;
  for (const auto& [index, uuid] : partners.targets) {
    indices.push_back(index);
    uuids.push_back(uuid);
  }
  constexpr const char* kDoing = "raising the epoch";
  return epoch_of(session_.ask(kDoing, postgres_sql("raise_epoch"), pipeline_.id(), at_least.value,
                               partners.place, ids_literal(indices), array_literal(uuids)),
                  kDoing);
}

void PostgresLead::note_quiet(Epoch epoch) {
  session_.ask("noting that nothing is on its way",
               "update {schema}.checkpoint set partners = partners || '{\"quiet\": true}' "
               "where pipeline = $1 and epoch = $2",
               pipeline_.id(), epoch.value);
}

}  // namespace lockstep
