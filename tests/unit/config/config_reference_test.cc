// docs/configuration.md against the table of keys: every key with its type, default and description, and none
// that does not exist.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "replicator/config/config_key_text.h"

namespace lockstep {
namespace {

std::string heading(const std::string& section) {
  if (section.empty()) return "## The top of the file";
  return section.starts_with("index") ? "## [[" + section + "]]" : "## [" + section + "]";
}

std::string row(const ConfigKey& key) {
  const std::string fallback = key.presence == Presence::kRequired ? "required"
                               : key.default_value.empty()         ? "–"
                                                                   : "`" + key.default_value + "`";
  return "| `" + key.name + "` | " + key.type + " | " + fallback + " | " + key.description + " |";
}

// The rows of keys in the reference, by heading.
std::map<std::string, std::vector<std::string>> documented() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/configuration.md");
  EXPECT_TRUE(file) << "docs/configuration.md is missing";
  std::map<std::string, std::vector<std::string>> rows;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line;
    if (line.starts_with("| `")) rows[section].push_back(line);
  }
  return rows;
}

TEST(ConfigReferenceTest, TheDocumentationIsTheTableOfKeys) {
  std::map<std::string, std::vector<std::string>> expected;
  for (const ConfigKey& key : config_keys()) expected[heading(key.section)].push_back(row(key));
  const auto actual = documented();
  for (const auto& [section, rows] : expected) {
    const auto found = actual.find(section);
    if (found == actual.end()) {
      ADD_FAILURE() << "docs/configuration.md lacks \"" << section << "\"";
      continue;
    }
    std::ostringstream wanted;
    for (const std::string& each : rows) wanted << each << '\n';
    EXPECT_EQ(found->second, rows) << "\"" << section << "\" should have\n" << wanted.str();
  }
  for (const auto& [section, rows] : actual) {
    EXPECT_TRUE(expected.contains(section)) << section << " documents keys that do not exist";
  }
}

TEST(ConfigReferenceTest, EveryKeyHasADescriptionAndAnExample) {
  for (const ConfigKey& key : config_keys()) {
    EXPECT_FALSE(key.description.empty()) << key.section << "." << key.name;
    EXPECT_TRUE(key.description.ends_with(".")) << key.section << "." << key.name;
    EXPECT_FALSE(key.example.empty()) << key.section << "." << key.name;
  }
}

}  // namespace
}  // namespace lockstep
