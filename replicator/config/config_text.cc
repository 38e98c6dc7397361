#include "replicator/config/config_text.h"

#include "replicator/config/config_key_text.h"
#include "replicator/config/source_url.h"

namespace lockstep {
namespace {

constexpr std::size_t kLineLength = 100;

template <class Section>
std::string section_text(const Section& section) {
  std::string text;
  for (const Key<Section>& key : keys_of<Section>()) {
    const std::string value = toml_text(key.spec, key.get(section));
    if (!value.empty()) text += std::string(key.spec.name) + " = " + value + "\n";
  }
  return text;
}

// The description as comment lines.
std::string comment(const std::string& description) {
  std::string text, line = "#";
  for (std::size_t begin = 0; begin < description.size();) {
    const std::size_t end = std::min(description.find(' ', begin), description.size());
    const std::string word = description.substr(begin, end - begin);
    if (line.size() + 1 + word.size() > kLineLength) {
      text += line + "\n";
      line = "#";
    }
    line += " " + word;
    begin = end + 1;
  }
  return text + line + "\n";
}

std::string heading_line(const std::string& section) {
  if (section.empty()) return "";
  return section.starts_with("index") ? "[[" + section + "]]\n" : "[" + section + "]\n";
}

// The keys without which the sample would not be a valid configuration.
bool shown(const ConfigKey& key) {
  return key.presence == Presence::kRequired || (key.section == "source" && key.name == "url");
}

}  // namespace

std::string config_text(const Config& with_secrets) {
  Config config = with_secrets;
  config.source.url = url_without_secrets(config.source.url);
  std::string text = section_text(config);
  for_each_section([&]<class Section>(const char* name, Section Config::*section) {
    text += "\n" + heading_line(name) + section_text(config.*section);
  });
  for (const IndexConfig& index : config.indices) {
    text += "\n" + heading_line("index") + section_text(index);
    for (const TrackConfig& track : index.tracks)
      text += "\n" + heading_line("index.track") + section_text(track);
  }
  return text;
}

std::string sample_config() {
  std::string text, section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      text += "\n" + heading_line(section);
    }
    const bool secret = key.type == "secret";
    const std::string& value = key.default_value.empty() ? key.example : key.default_value;
    text += comment(key.description);
    text += (shown(key) ? "" : "# ") + key.name + (secret ? "_file" : "") + " = " +
            (shown(key) ? key.example : value) + "\n";
  }
  return text;
}

}  // namespace lockstep
