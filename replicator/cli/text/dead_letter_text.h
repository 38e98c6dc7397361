// Dead letters as `lockstep deadletters` prints them; docs/dead-letters.md names columns and keys.
#pragma once

#include <optional>
#include <string>

#include "replicator/source/source.h"

namespace lockstep {

/// Their document as the view gives it now.
struct DeadLetterDocument {
  std::optional<std::string> json;  ///< none: the view does not have it any more
  std::string problem;              ///< why it could not be rendered; else empty
};

/// Time, index, id and routing as JSON strings (an empty column for no routing), status, error type and
/// reason: a line, its parts separated by tabs.
std::string dead_letter_line(const std::string& alias, const StoredDeadLetter& letter);

/// All that is known, a part a line.
std::string dead_letter_text(const std::string& alias, const StoredDeadLetter& letter,
                             const DeadLetterDocument& document);

/// A line of JSON; with `document` the document in it as it is rendered, null when there is none.
std::string dead_letter_json(const std::string& alias, const StoredDeadLetter& letter,
                             const DeadLetterDocument* document);

}  // namespace lockstep
