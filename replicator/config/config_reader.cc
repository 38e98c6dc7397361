#include "replicator/config/config_reader.h"

#include <toml++/toml.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "replicator/config/config_key_text.h"
#include "replicator/config/key_value.h"
#include "replicator/config/text_file.h"
#include "replicator/error.h"
#include "replicator/nearest_name.h"

namespace lockstep {
namespace {

using Names = std::set<std::string, std::less<>>;

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}
int line_of(const toml::key& key) {
  return static_cast<int>(key.source().begin.line);
}

// "[source]", "[[index.track]]", as the file has it.
std::string heading(const std::string& section) {
  if (section.empty()) return "the top of the file";
  return section.starts_with("index") ? "[[" + section + "]]" : "[" + section + "]";
}

// A path without the numbers of array elements: "index.0.track" is "index.track".
std::string section_of(const std::string& path) {
  if (!path.starts_with("index.")) return path;
  return path.find("track") == std::string::npos ? "index" : "index.track";
}

class ConfigReader {
 public:
  ConfigReader(const std::filesystem::path& file, Faults& faults) : faults_(faults) {
    read_.config.file = file;
  }

  ReadConfig read(const toml::table& root) {
    Names sections = {"index"};
    for_each_section([&]<class Section>(const char* name, Section Config::*) { sections.emplace(name); });
    read_section(root, read_.config, "", sections);
    for_each_section([&]<class Section>(const char* name, Section Config::*section) {
      if (const toml::node* node = root.get(name)) read_table(*node, read_.config.*section, name);
    });
    read_indices(root);
    return std::move(read_);
  }

 private:
  template <class Section>
  void read_table(const toml::node& node, Section& section, const std::string& name) {
    read_.lines.set(name, line_of(node));
    if (const toml::table* table = node.as_table()) return read_section(*table, section, name, {});
    faults_.add(line_of(node), "\"" + name + "\" is a section", "write [" + name + "] on a line of its own");
  }

  // Calls `read(table, path)` for each [[name]] of `parent`.
  template <class Read>
  void read_array(const toml::table& parent, const std::string& path, const std::string& name, Read&& read) {
    const toml::node* node = parent.get(name);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || (!array->empty() && !array->is_array_of_tables())) {
      const std::string section = section_of(path + "0");
      faults_.add(line_of(*node), "\"" + section + "\" is a list of sections", "write [[" + section + "]]");
      return;
    }
    for (std::size_t i = 0; i < array->size(); ++i)
      read(*array->get(i)->as_table(), path + std::to_string(i));
  }

  void read_indices(const toml::table& root) {
    read_array(root, "index.", "index", [&](const toml::table& table, const std::string& path) {
      IndexConfig index;
      index.line = line_of(table);
      read_.lines.set(path, index.line);
      read_section(table, index, path, {"track"});
      read_array(table, path + ".track.", "track",
                 [&](const toml::table& track_table, const std::string& below) {
                   TrackConfig track;
                   track.line = line_of(track_table);
                   read_.lines.set(below, track.line);
                   read_section(track_table, track, below, {});
                   index.tracks.push_back(std::move(track));
                 });
      read_.config.indices.push_back(std::move(index));
    });
  }

  template <class Section>
  void read_section(const toml::table& table, Section& section, const std::string& path, const Names& inner) {
    Names known = inner;
    for (const Key<Section>& key : keys_of<Section>()) {
      if (key.spec.type == ValueType::kSecret) {
        read_secret(table, key, section, path, known);
        continue;
      }
      known.emplace(key.spec.name);
      const toml::node* node = table.get(key.spec.name);
      if (node != nullptr) {
        read_key(*node, key, section, path);
      } else if (key.spec.presence == Presence::kRequired) {
        faults_.add(line_of(table),
                    heading(section_of(path)) + " has no \"" + std::string(key.spec.name) + "\"",
                    "add " + std::string(key.spec.name) + " = " + std::string(key.spec.example));
      }
    }
    report_unknown(table, path, known);
  }

  template <class Section>
  void read_key(const toml::node& node, const Key<Section>& key, Section& section, const std::string& path) {
    note_line(path, key.spec.name, node);
    const auto value = key_value(key.spec, node, read_.config.file.parent_path());
    if (const auto* fault = std::get_if<TextFault>(&value))
      return faults_.add(line_of(node), fault->what, fault->remedy);
    key.set(section, std::get<KeyValue>(value));
  }

  template <class Section>
  void read_secret(const toml::table& table, const Key<Section>& key, Section& section,
                   const std::string& path, Names& known) {
    const toml::node* chosen = nullptr;
    for (const SecretForm& form : secret_forms(key.spec.name)) {
      known.insert(form.key);
      const toml::node* node = table.get(form.key);
      if (node == nullptr) continue;
      note_line(path, key.spec.name, *node);
      if (chosen != nullptr) {
        const std::string name(key.spec.name);
        faults_.add(line_of(*node), "\"" + name + "\" is given twice",
                    "keep one of " + name + ", " + name + "_file and " + name + "_env");
        return;
      }
      chosen = node;
      const auto value = secret_value(form, *node, read_.config.file);
      if (const auto* fault = std::get_if<TextFault>(&value)) {
        faults_.add(line_of(*node), fault->what, fault->remedy);
      } else {
        key.set(section, std::get<Secret>(value));
      }
    }
  }

  void report_unknown(const toml::table& table, const std::string& path, const Names& known) {
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (known.contains(name)) continue;
      const std::string section = section_of(path);
      const bool is_section = node.is_table() || node.is_array_of_tables();
      const std::string what =
          is_section ? "unknown section \"" + (path.empty() ? "" : section + ".") + std::string(name) + "\""
                     : "unknown key \"" + std::string(name) + "\" " + (section.empty() ? "at " : "in ") +
                           heading(section);
      faults_.add(line_of(key), what, remedy_for(name, section, known));
    }
  }

  static std::string remedy_for(std::string_view name, const std::string& section, const Names& known) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    std::string homes;
    for (const ConfigKey& key : config_keys()) {
      if (key.name == name && key.section != section)
        homes += (homes.empty() ? "" : " or ") + heading(key.section);
    }
    if (!homes.empty()) return "it belongs to " + homes;
    if (const auto nearest = nearest_name(name, names))
      return "did you mean \"" + std::string(*nearest) + "\"?";
    std::string list;
    for (const std::string_view each : names) list += (list.empty() ? "" : ", ") + std::string(each);
    return "known here: " + list;
  }

  void note_line(const std::string& path, std::string_view name, const toml::node& node) {
    read_.lines.set((path.empty() ? "" : path + ".") + std::string(name), line_of(node));
  }

  Faults& faults_;
  ReadConfig read_;
};

// The package lets the user of the service read its folder, and no other.
std::string remedy_for_unreadable(const std::filesystem::path& file) {
  const bool is_denied = ::access(file.c_str(), R_OK) != 0 && errno == EACCES;
  if (!is_denied || file.parent_path() != "/etc/lockstep") return "";
  return "run the command as the user lockstep: runuser -u lockstep -- lockstep status; or ";
}

}  // namespace

int KeyLines::line_of(std::string_view path) const {
  for (std::string_view at = path; !at.empty();) {
    if (const auto found = lines_.find(at); found != lines_.end()) return found->second;
    const std::size_t dot = at.rfind('.');
    at = dot == std::string_view::npos ? std::string_view{} : at.substr(0, dot);
  }
  return 0;
}

ReadConfig read_config(const std::filesystem::path& file, Faults& faults) {
  if (file.empty())
    throw UsageError("the configuration has an empty name; name a file with -c or in LOCKSTEP_CONFIG");
  const auto content = read_text_file(file, Pipes::kRead);
  if (const auto* fault = std::get_if<TextFault>(&content)) {
    throw UsageError("the configuration " + fault->what + "; " + remedy_for_unreadable(file) +
                     "name a file with -c or in LOCKSTEP_CONFIG");
  }
  try {
    return ConfigReader(file, faults).read(toml::parse(std::get<std::string>(content)));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw UsageError(file.string() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
                     on_one_line(error.description()) + "; correct the TOML there");
  }
}

}  // namespace lockstep
