#include "replicator/tree/tree_intent.h"

#include <array>
#include <string_view>

#include "replicator/error.h"
#include "replicator/locks/stored_value.h"

namespace lockstep {
namespace {

using Kind = TreeIntent::Kind;

/// In the order of TreeIntent::Kind.
constexpr std::array<std::string_view, 5> kKinds = {"mv", "rm", "put", "mkdir", "cp"};

Kind kind_of(const Operation& operation) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (kKinds.at(i) == operation.intent.kind) return static_cast<Kind>(i);
  }
  throw unknown_value("the operation " + operation.id, "kind", operation.intent.kind);
}

}  // namespace

std::string doing_of(const TreeIntent& intent) {
  switch (intent.kind) {
    case Kind::kMove:
      return "moving " + intent.path.text() + " to " + intent.to->text();
    case Kind::kRemove:
      return "removing " + intent.path.text();
    case Kind::kMakeDirectory:
      return "making the directory " + intent.path.text();
    case Kind::kCopy:
      return "copying " + intent.path.text() + " to " + intent.to->text();
    case Kind::kPut:
      break;
  }
  return "writing " + intent.path.text();
}

OperationIntent journal_intent(const TreeIntent& intent, const std::string& index) {
  return {.kind = std::string(kKinds.at(static_cast<std::size_t>(intent.kind))),
          .from = intent.path.text(),
          .to = intent.to ? intent.to->text() : std::string(),
          .target = index};
}

TreeIntent tree_intent(const Operation& operation) {
  const Kind kind = kind_of(operation);
  try {
    TreeIntent intent{.kind = kind, .path = TreePath(operation.intent.from)};
    if (kind == Kind::kMove || kind == Kind::kCopy) intent.to.emplace(operation.intent.to);
    return intent;
  } catch (const UsageError& error) {
    throw Error({"reading the operation " + operation.id, error.what()});
  }
}

}  // namespace lockstep
