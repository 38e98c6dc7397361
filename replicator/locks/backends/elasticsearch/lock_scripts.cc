#include "replicator/locks/backends/elasticsearch/lock_scripts.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> lock_script_files();

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 9> kIds = {
    script_id::kAcquire,      script_id::kRelease,      script_id::kDowngrade,
    script_id::kRenew,        script_id::kJournalOpen,  script_id::kJournalStep,
    script_id::kJournalSeize, script_id::kJournalToken, script_id::kTreeChange};

/// Of the script in this file, "journal_open.painless".
std::string_view id_of(std::string_view file) {
  std::string name = "lockstep-" + std::string(file.substr(0, file.find('.'))) + "-v";
  std::replace(name.begin(), name.end(), '_', '-');
  for (const std::string_view id : kIds) {
    if (id.starts_with(name)) return id;
  }
  throw std::logic_error("the script " + std::string(file) + " has no id");
}

bool runs_painless(ElasticsearchClient& client) {
  const json reply = client.send_json("asking for the engine's script languages", "GET", "/_script_language");
  const json types = reply.value("types_allowed", json::array());
  const bool stored = std::find(types.begin(), types.end(), "stored") != types.end();
  const json languages = reply.value("language_contexts", json::array());
  return stored && std::any_of(languages.begin(), languages.end(), [](const json& language) {
           return text_at(language, "language") == "painless";
         });
}

}  // namespace

std::vector<LockScript> lock_scripts() {
  std::vector<LockScript> scripts;
  for (const EmbeddedFile& file : lock_script_files())
    scripts.push_back({std::string(id_of(file.name)), file.content});
  return scripts;
}

Painless install_lock_scripts(ElasticsearchClient& client) {
  const json reply =
      client.send_json("reading the stored scripts", "GET",
                       "/_cluster/state/metadata?filter_path=metadata.stored_scripts.lockstep-*");
  const json stored = object_at(object_at(reply, "metadata"), "stored_scripts");
  std::vector<LockScript> wanted = lock_scripts();
  std::erase_if(wanted, [&](const LockScript& script) {
    return text_at(object_at(stored, script.id), "source") == script.source;
  });
  if (wanted.empty()) return Painless::kHere;
  if (!runs_painless(client)) return Painless::kMissing;
  for (const LockScript& script : wanted) {
    const json body = {{"script", {{"lang", "painless"}, {"source", script.source}}}};
    client.send("storing the script " + script.id, "PUT", "/_scripts/" + percent_encoded(script.id),
                body.dump());
  }
  return Painless::kHere;
}

}  // namespace lockstep
