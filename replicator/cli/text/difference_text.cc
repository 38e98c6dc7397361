#include "replicator/cli/text/difference_text.h"

#include "replicator/cli/text/json_text.h"

namespace lockstep {

std::string difference_text(std::string_view alias, std::string_view difference,
                            const FoundDocument& document) {
  std::string line =
      std::string(alias) + "\t" + std::string(difference) + "\t" + json_string(document.id.text);
  if (!document.routing.empty()) line += "\trouting " + json_string(document.routing);
  return line;
}

}  // namespace lockstep
