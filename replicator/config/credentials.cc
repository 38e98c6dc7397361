#include "replicator/config/credentials.h"

#include <algorithm>
#include <system_error>

#include "replicator/config/config_keys.h"
#include "replicator/config/secret.h"
#include "replicator/error.h"

namespace lockstep {
namespace {

using Files = std::vector<std::filesystem::path>;

void add(Files& files, const std::filesystem::path& file) {
  if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

// Calls `visit(section, key)` for each key of type `type` in the [sections].
template <class Visit>
void for_each_of_type(ValueType type, Config& config, Visit&& visit) {
  for_each_section([&]<class Section>(const char*, Section Config::*section) {
    for (const Key<Section>& key : keys_of<Section>()) {
      if (key.spec.type == type) visit(config.*section, key);
    }
  });
}

Files files_of_secrets(Config config) {
  Files files;
  for_each_of_type(ValueType::kSecret, config, [&](const auto& section, const auto& key) {
    add(files, std::get<Secret>(key.get(section)).file());
  });
  return files;
}

bool others_have(const std::filesystem::path& path, std::filesystem::perms right) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(path, missing);
  return !missing && (status.permissions() & right) != std::filesystem::perms::none;
}

// To read a file one needs the right to enter each folder above it.
bool is_open_to_all(const std::filesystem::path& file) {
  std::error_code broken;
  const std::filesystem::path real = std::filesystem::canonical(file, broken);
  if (broken || !others_have(real, std::filesystem::perms::others_read)) return false;
  for (std::filesystem::path folder = real.parent_path();; folder = folder.parent_path()) {
    if (!others_have(folder, std::filesystem::perms::others_exec)) return false;
    if (folder == folder.root_path()) return true;
  }
}

}  // namespace

Files credential_files(const Config& config) {
  Files files;
  for (const std::filesystem::path& file : files_of_secrets(config)) {
    if (file != config.file) add(files, file);
  }
  add(files, config.elasticsearch.ca_file);
  add(files, config.elasticsearch.client_cert);
  add(files, config.elasticsearch.client_key);
  return files;
}

Files secrets_open_to_all(const Config& config) {
  Files files = files_of_secrets(config);
  add(files, config.elasticsearch.client_key);
  std::erase_if(files, [](const std::filesystem::path& file) { return !is_open_to_all(file); });
  return files;
}

bool has_rotated(const Config& config) {
  bool rotated = false;
  Config copy = config;
  for_each_of_type(ValueType::kSecret, copy, [&](const auto& section, const auto& key) {
    const auto secret = std::get<Secret>(key.get(section));
    if (secret.file().empty() || secret.file() == config.file) return;
    const auto present = secret_from_file(secret.file());
    const auto* found = std::get_if<Secret>(&present);
    rotated |= found == nullptr || found->value() != secret.value();
  });
  return rotated;
}

Config with_present_credentials(Config config) {
  for_each_of_type(ValueType::kSecret, config, [&](auto& section, const auto& key) {
    const std::filesystem::path file = std::get<Secret>(key.get(section)).file();
    if (file.empty() || file == config.file) return;
    auto secret = secret_from_file(file);
    if (const auto* fault = std::get_if<TextFault>(&secret)) {
      throw UsageError(fault->what + "; " + fault->remedy);
    }
    key.set(section, std::get<Secret>(secret));
  });
  return config;
}

}  // namespace lockstep
