// What depends on whether a person sits at the other end.
#pragma once

#include <string>

namespace lockstep {

/// Standard error is a terminal: progress may be drawn there.
bool shows_progress();

/// Standard output is a terminal: it may be redrawn.
bool redraws();

/// Somebody can be asked: standard input and standard error are terminals.
bool can_ask();

/// Asks a question that is answered with y or n; anything else is no.
enum class Answer { kYes, kNo };
Answer ask(const std::string& question);

}  // namespace lockstep
