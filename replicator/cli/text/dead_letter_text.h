// Dead letters as `lockstep dead-letters` prints them; docs/dead-letters.md names columns and keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replicator/source/outbox/dead_letter.h"

namespace lockstep {

/// Printed when a filter matches nothing.
inline constexpr const char* kNoDeadLetter = "no dead letter matches\n";

/// "1 dead letter", "1,234 dead letters".
std::string dead_letters_text(std::int64_t count);

/// The document of a dead letter, as the view gives it now.
struct DeadLetterDocument {
  std::optional<std::string> json;  ///< none: the view no longer has it
  std::string problem;              ///< why it could not be rendered; empty: it could
};

/// One line, its columns separated by tabs: time, index, id and routing as JSON strings (no routing: empty),
/// status, error type, reason.
std::string dead_letter_line(const std::string& alias, const StoredDeadLetter& letter);

/// All that is known, each part on a line.
std::string dead_letter_text(const std::string& alias, const StoredDeadLetter& letter,
                             const DeadLetterDocument& document);

/// One line of JSON. With `document` it has the document as it is rendered, or null if there is none.
std::string dead_letter_json(const std::string& alias, const StoredDeadLetter& letter,
                             const DeadLetterDocument* document);

}  // namespace lockstep
