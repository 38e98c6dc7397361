#include "tests/support/documents.h"

#include <sstream>

namespace lockstep::support {
namespace {

std::string name(const DocumentAddress& address) {
  return "'" + address.id + "'" + (address.routing.empty() ? "" : " (routing '" + address.routing + "')");
}

// Counts a kind of difference and keeps its first few.
struct Findings {
  explicit Findings(const char* what) : kind(what) {}

  void add(const std::string& text) {
    if (++count <= 5) first += "\n  " + text;
  }
  void print(std::ostream& out) const {
    if (count > 0) out << count << ' ' << kind << ':' << first << '\n';
  }

  const char* kind;
  std::size_t count = 0;
  std::string first;
};

}  // namespace

std::string difference(const ExpectedDocuments& view, const StoredDocuments& index) {
  Findings missing("missing in the index");
  Findings surplus("surplus in the index");
  Findings different("different");
  for (const auto& [address, json] : view) {
    const auto found = index.find(address);
    if (found == index.end()) {
      missing.add(name(address) + ": " + json);
    } else if (found->second.json != json) {
      different.add(name(address) + ", version " + std::to_string(found->second.version) +
                    "\n    view:  " + json + "\n    index: " + found->second.json);
    }
  }
  for (const auto& [address, document] : index) {
    if (!view.contains(address)) {
      surplus.add(name(address) + ", version " + std::to_string(document.version) + ": " + document.json);
    }
  }
  std::ostringstream out;
  missing.print(out);
  surplus.print(out);
  different.print(out);
  return out.str();
}

}  // namespace lockstep::support
