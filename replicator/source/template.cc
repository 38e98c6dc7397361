#include "replicator/source/template.h"

#include <algorithm>
#include <stdexcept>

namespace lockstep {
namespace {

// The next line of `text`, with its line break.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

// "{#name}\n": the name of the block that begins here; empty: none does.
std::string_view block_of(std::string_view line) {
  if (!line.starts_with("{#") || !line.ends_with("}\n")) return {};
  return line.substr(2, line.size() - 4);
}

// The lines up to the end of the block, without that.
std::string_view take_block(std::string_view& text, std::string_view name) {
  const std::string end = "{/" + std::string(name) + "}\n";
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::size_t before = whole.size() - text.size();
    if (take_line(text) == end) return whole.substr(0, before);
  }
  throw std::logic_error("block " + std::string(name) + " of a template has no end");
}

using Holes = std::map<std::string, std::string>;

std::string filled(std::string_view text, const Filling& filling, Holes outer) {
  Holes holes = filling.holes;
  holes.merge(outer);
  const std::map<std::string_view, std::string_view> values(holes.begin(), holes.end());
  std::string code;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string_view name = block_of(line);
    if (name.empty()) {
      code += fill_placeholders(line, values);
      continue;
    }
    const std::string_view block = take_block(text, name);
    for (const Filling& each : filling.blocks.at(std::string(name))) code += filled(block, each, holes);
  }
  return code;
}

}  // namespace

std::string_view without_comment(std::string_view text) {
  while (text.starts_with("--")) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::string fill_placeholders(std::string_view statement,
                              const std::map<std::string_view, std::string_view>& values) {
  std::string text;
  while (true) {
    const std::size_t open = statement.find('{');
    text += statement.substr(0, open);
    if (open == std::string_view::npos) return text;
    const std::size_t close = statement.find('}', open);
    const auto value = values.find(statement.substr(open + 1, close - open - 1));
    if (value == values.end()) throw std::logic_error("unknown placeholder in a statement");
    text += value->second;
    statement.remove_prefix(close + 1);
  }
}

std::string with_schema(std::string_view statement, std::string_view schema) {
  constexpr std::string_view kPlaceholder = "{schema}";
  std::string text;
  text.reserve(statement.size() + 64);
  while (true) {
    const std::size_t at = statement.find(kPlaceholder);
    text.append(statement.substr(0, at));
    if (at == std::string_view::npos) return text;
    text.append(schema);
    statement.remove_prefix(at + kPlaceholder.size());
  }
}

std::string fill_template(std::string_view text, const Filling& filling) {
  return filled(without_comment(text), filling, {});
}

std::vector<Filling> when(bool condition) {
  return std::vector<Filling>(condition ? 1 : 0);
}

}  // namespace lockstep
