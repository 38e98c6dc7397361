#include "replicator/source/postgres/session/last_words.h"

#include <exception>
#include <string_view>

#include "replicator/one_line.h"

namespace lockstep {

// Notices of the application's functions come here, too, and may show values of rows. A server that speaks
// another language has no last words: they are only shown, and nothing is judged by them.
bool LastWords::operator()(const char message[]) noexcept {
  const std::string_view said(message);
  if (!said.starts_with("FATAL:") && !said.starts_with("PANIC:")) return true;
  try {
    text_ = in_one_line(std::string(said));
  } catch (const std::exception&) {
    return true;  // no memory for them
  }
  return true;
}

}  // namespace lockstep
