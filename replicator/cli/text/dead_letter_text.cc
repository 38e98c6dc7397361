#include "replicator/cli/text/dead_letter_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "replicator/cli/text/json_text.h"
#include "replicator/quantity.h"

namespace lockstep {
namespace {

// Line breaks and tabs in a reason, or between the tokens of a document, become spaces.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string document_line(const DeadLetterDocument& document) {
  if (!document.problem.empty()) return "cannot be rendered: " + document.problem;
  return document.json ? one_line(*document.json) : "none: the view no longer has it";
}

}  // namespace

std::string dead_letters_text(std::int64_t count) {
  return counted(count, "dead letter");
}

std::string dead_letter_line(const std::string& alias, const StoredDeadLetter& stored) {
  const DeadLetter& letter = stored.letter;
  return stored.last_at + "\t" + alias + "\t" + json_string(letter.id.text) + "\t" +
         (letter.routing.empty() ? "" : json_string(letter.routing)) + "\t" + std::to_string(letter.status) +
         "\t" + one_line(letter.error_type) + "\t" + one_line(letter.reason) + "\n";
}

std::string dead_letter_text(const std::string& alias, const StoredDeadLetter& stored,
                             const DeadLetterDocument& document) {
  const DeadLetter& letter = stored.letter;
  std::string text = "index     " + alias + "\nid        " + json_string(letter.id.text) + "\n";
  if (!letter.routing.empty()) text += "routing   " + json_string(letter.routing) + "\n";
  return text + "status    " + std::to_string(letter.status) + "\nerror     " + one_line(letter.error_type) +
         "\nreason    " + one_line(letter.reason) + "\nfirst     " + stored.first_at + "\nlast      " +
         stored.last_at + "\ntries     " + std::to_string(stored.tries) + "\nversion   " +
         std::to_string(letter.version.value()) + "\ndocument  " + document_line(document) + "\n";
}

std::string dead_letter_json(const std::string& alias, const StoredDeadLetter& stored,
                             const DeadLetterDocument* document) {
  const DeadLetter& letter = stored.letter;
  nlohmann::ordered_json json = {{"index", alias},
                                 {"id", letter.id.text},
                                 {"routing", nullptr},
                                 {"status", letter.status},
                                 {"error_type", letter.error_type},
                                 {"reason", letter.reason},
                                 {"first_at", stored.first_at},
                                 {"last_at", stored.last_at},
                                 {"tries", stored.tries},
                                 {"version", letter.version.value()}};
  if (!letter.routing.empty()) json["routing"] = letter.routing;
  if (document != nullptr && !document->problem.empty()) json["problem"] = document->problem;
  std::string text = json_text(json);
  if (document != nullptr) {
    text.pop_back();  // so that the document's bytes go in as they are: numbers keep their digits
    text += ",\"document\":" + one_line(document->json.value_or("null")) + "}";
  }
  return text + "\n";
}

}  // namespace lockstep
