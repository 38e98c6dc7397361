#include "replicator/source/postgres/catalog/node_tree.h"

#include <charconv>
#include <stdexcept>

namespace lockstep {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t';
}

bool is_bracket(char c) {
  return c == '(' || c == ')' || c == '{' || c == '}';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  PostgresNode whole() {
    PostgresNode node = value();
    skip_space();
    if (at_ != text_.size()) fail();
    return node;
  }

 private:
  [[noreturn]] static void fail() { throw NodeTreeError("this is no node tree of PostgreSQL"); }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // The next character that is not white space; fails at the end.
  char peek() {
    skip_space();
    if (at_ == text_.size()) fail();
    return text_[at_];
  }

  // The text up to white space or a bracket. A character behind a backslash is neither.
  std::string token() {
    std::string token;
    if (peek() == '"') return quoted();
    while (at_ < text_.size() && !is_space(text_[at_]) && !is_bracket(text_[at_])) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      token += text_[at_++];
    }
    if (token.empty()) fail();
    return token;
  }

  std::string quoted() {
    std::string token;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      token += text_[at_];
    }
    if (at_ == text_.size()) fail();
    ++at_;
    return token;
  }

  PostgresNode value() {
    PostgresNode node;
    switch (peek()) {
      case '(':
        node.kind = PostgresNode::Kind::kList;
        for (++at_; peek() != ')';) node.items.push_back(value());
        ++at_;
        return node;
      case '{':
        return record();
      default:
        // A text that begins with "<" is escaped.
        if (!text_.substr(at_).starts_with("<>")) node.kind = PostgresNode::Kind::kAtom;
        node.text = token();
        return node;
    }
  }

  PostgresNode record() {
    PostgresNode node;
    node.kind = PostgresNode::Kind::kRecord;
    ++at_;
    node.text = token();
    if (node.text == "RTE") node.text = "RANGETBLENTRY";  // as PostgreSQL 13 and 14 have it
    while (peek() != '}') {
      if (text_[at_] != ':') fail();
      ++at_;
      const std::string name = token();
      node.fields.push_back({name, value()});
      // A constant's value is a length and bytes: "4 [ 1 0 0 0 ]".
      while (peek() != '}' && text_[at_] != ':') value();
    }
    ++at_;
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const PostgresNode* PostgresNode::field(std::string_view name) const {
  for (const auto& [field_name, node] : fields) {
    if (field_name == name) return node.kind == Kind::kNull ? nullptr : &node;
  }
  return nullptr;
}

long PostgresNode::number(std::string_view name, long missing) const {
  const PostgresNode* node = field(name);
  if (node == nullptr || node->kind != Kind::kAtom) return missing;
  long number = missing;
  std::from_chars(node->text.data(), node->text.data() + node->text.size(), number);
  return number;
}

const std::vector<PostgresNode>& PostgresNode::list(std::string_view name) const {
  static const std::vector<PostgresNode> kNone;
  const PostgresNode* node = field(name);
  return node == nullptr || node->kind != Kind::kList ? kNone : node->items;
}

PostgresNode parse_node_tree(std::string_view text) {
  return Parser(text).whole();
}

}  // namespace lockstep
