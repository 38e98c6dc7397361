// Whether a person sits at the other end, and asking that person.
#pragma once

#include <string>

namespace lockstep {

/// Standard error is a terminal: progress may be drawn there.
bool shows_progress();

/// Standard output is a terminal that can be redrawn: TERM names one, and not "dumb".
bool redraws();

/// Standard output is a terminal that shows colours, and NO_COLOR (no-color.org) is empty or not set.
bool shows_colours();

/// A person can answer: standard input and standard error are terminals.
bool can_ask();

enum class Answer { kYes, kNo };

/// Asks a question. "y", "Y" and "yes" are yes; anything else is no.
Answer ask(const std::string& question);

}  // namespace lockstep
