#include "replicator/draft/logstash_file.h"

#include <cctype>
#include <utility>

#include "replicator/error.h"

namespace lockstep {
namespace {

class Reader {
 public:
  Reader(std::string_view name, std::string_view text) : name_(name), text_(text) {}

  std::vector<LogstashPlugin> read() {
    for (skip(); at_ < text_.size(); skip()) {
      section_ = word("input, filter or output");
      if (section_ != "input" && section_ != "filter" && section_ != "output")
        fail("\"" + section_ + "\" is no section; input, filter and output are");
      block(false);
    }
    return std::move(plugins_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(std::string(name_) + ":" + std::to_string(line_) + ": " + what);
  }

  char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void advance() {
    if (now() == '\n') ++line_;
    ++at_;
  }

  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(now())) != 0) {
        advance();
      } else if (now() == '#') {
        while (at_ < text_.size() && now() != '\n') advance();
      } else {
        return;
      }
    }
  }

  bool takes(std::string_view expected) {
    skip();
    if (text_.compare(at_, expected.size(), expected) != 0) return false;
    at_ += expected.size();
    return true;
  }

  void require(std::string_view expected, const std::string& behind) {
    if (!takes(expected)) fail("there is no " + std::string(expected) + " behind " + behind);
  }

  std::string word(const std::string& wanted) {
    skip();
    const std::size_t begin = at_;
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    };
    while (fits(now())) advance();
    if (at_ == begin) fail("here should be " + wanted);
    return std::string(text_.substr(begin, at_ - begin));
  }

  // A quote behind a backslash is one inside of the text.
  std::string quoted() {
    const char quote = now();
    const int begun = line_;
    std::string value;
    for (advance(); now() != quote; advance()) {
      if (at_ >= text_.size()) {
        line_ = begun;
        fail("the text that begins here has no end");
      }
      if (now() == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == quote) advance();
      value += now();
    }
    advance();
    return value;
  }

  bool at_quote() {
    skip();
    return now() == '"' || now() == '\'';
  }

  std::string name_or_text(const std::string& wanted) { return at_quote() ? quoted() : word(wanted); }

  // { plugins and conditions }
  void block(bool conditional) {
    require("{", section_);
    while (!takes("}")) {
      if (at_ >= text_.size()) fail("the " + section_ + " has no }");
      const int line = line_;
      const std::string name = name_or_text("a plugin");
      if (name == "if" || name == "else") {
        skip_condition();
        block(true);
      } else {
        plugin(name, line, conditional);
      }
    }
  }

  // From behind "if", or behind "else", up to the block.
  void skip_condition() {
    while (skip(), now() != '{') {
      if (at_ >= text_.size()) fail("the condition has no {");
      if (at_quote())
        quoted();
      else
        advance();
    }
  }

  void plugin(const std::string& name, int line, bool conditional) {
    LogstashPlugin plugin{section_, name, {}, conditional, line};
    require("{", name);
    while (!takes("}")) {
      if (at_ >= text_.size()) fail("the plugin " + name + " has no }");
      LogstashSetting setting;
      setting.line = line_;
      setting.name = name_or_text("a setting");
      require("=>", setting.name);
      value(setting);
      plugin.settings.push_back(std::move(setting));
    }
    plugins_.push_back(std::move(plugin));
  }

  void value(LogstashSetting& setting) {
    skip();
    if (now() == '[' || now() == '{') {
      collect(setting.values, now() == '[' ? ']' : '}');
    } else {
      setting.value = text_or_number();
    }
  }

  std::string text_or_number() {
    if (at_quote()) return quoted();
    std::string text;
    while (std::isalnum(static_cast<unsigned char>(now())) != 0 || now() == '_' || now() == '-' ||
           now() == '.') {
      text += now();
      advance();
    }
    if (text.empty()) fail("here should be a value");
    return text;
  }

  void collect(std::vector<std::string>& values, char end) {
    advance();
    while (!takes(std::string(1, end))) {
      if (at_ >= text_.size()) fail(std::string("there is no ") + end);
      if (takes(",") || takes("=>")) continue;
      if (now() == '[' || now() == '{')
        collect(values, now() == '[' ? ']' : '}');
      else
        values.push_back(text_or_number());
    }
  }

  const std::string_view name_;
  const std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string section_;
  std::vector<LogstashPlugin> plugins_;
};

}  // namespace

std::vector<LogstashPlugin> read_logstash_file(std::string_view name, std::string_view text) {
  return Reader(name, text).read();
}

}  // namespace lockstep
