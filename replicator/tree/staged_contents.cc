#include "replicator/tree/staged_contents.h"

#include <optional>
#include <span>
#include <vector>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/tree/tree_query.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::size_t kScanPage = 1'000;

}  // namespace

TreeDocument StagedContents::stage(const Operation& operation, const TreeIntent& intent, json fields) {
  const std::string doing = "sending the contents for " + intent.target().text();
  for (const char* place : {"path", "name"}) fields.erase(place);
  fields["kind"] = kStagedKind + operation.id;
  fields["fence"] = 0;
  const HttpResponse response = client_.send(doing, "PUT",
                                             "/" + percent_encoded(documents_.index()) + "/_create/" +
                                                 percent_encoded(operation.id) + "?pipeline=_none",
                                             dumped(fields), {kConflict});
  if (response.status != kConflict) return read_tree_version(parse_reply(doing, response));
  // The transport sent it to a second node, because the first one died after it had acted.
  const std::optional<TreeDocuments::Whole> staged = documents_.get(operation.id);
  if (!staged || !staged->document.is_staged()) throw reply_error(doing, response);
  return staged->document;
}

void StagedContents::remove(const std::string& operation) {
  const std::optional<TreeDocuments::Whole> staged = documents_.get(operation);
  if (!staged || !staged->document.is_staged()) return;
  client_.send("removing contents that were never put", "DELETE",
               "/" + percent_encoded(documents_.index()) + "/_doc/" + percent_encoded(operation) +
                   "?if_seq_no=" + std::to_string(staged->document.sequence_number) +
                   "&if_primary_term=" + std::to_string(staged->document.primary_term),
               {}, {kNotFound, kConflict});
}

void StagedContents::clear_up(LockManager& locks) {
  documents_.refresh();
  std::vector<std::string> ids;
  const auto begins = [](const char* field) { return json{{"prefix", {{field, kStagedKind}}}}; };
  // A mapping made by its first document has a keyword below `kind`.
  const json query = tree_query::any_of({begins("kind"), begins("kind.keyword")});
  documents_.scan(query, kScanPage, [&](std::span<const TreeDocument> page) {
    for (const TreeDocument& document : page) {
      if (document.is_staged()) ids.push_back(document.id);
    }
  });
  for (const std::string& id : ids) {
    const std::optional<Operation> operation = locks.find_operation(id);
    if (!operation || operation->resolved()) remove(id);
  }
}

}  // namespace lockstep
