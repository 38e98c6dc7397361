#include "replicator/locks/backends/elasticsearch/lock_scripts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "replicator/elasticsearch/transport/json_fields.h"
#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/embedded_file.h"

namespace lockstep {

std::span<const EmbeddedFile> lock_script_files();

namespace {

using nlohmann::json;

/// The scripts that have changed since the first version.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kVersions = {
    {{"acquire", "v3"}, {"downgrade", "v2"}, {"release", "v3"}}};

std::string_view version_of(std::string_view name) {
  const auto* found =
      std::find_if(kVersions.begin(), kVersions.end(), [&](const auto& each) { return each.first == name; });
  return found == kVersions.end() ? "v1" : found->second;
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
  for (const EmbeddedFile& file : lock_script_files()) {
    std::string name(file.name.substr(0, file.name.find('.')));
    std::replace(name.begin(), name.end(), '_', '-');
    scripts.push_back({"lockstep-" + name + "-" + std::string(version_of(name)), file.content});
  }
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
