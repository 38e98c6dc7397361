// Translates a pipeline file of Logstash that fills an index by the jdbc input: its statement becomes a view.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/source/definition.h"

namespace lockstep {

struct LogstashIndex {
  std::string alias;                  ///< empty: it cannot be taken over
  std::string source_url;             ///< empty: it cannot be taken over
  std::string elasticsearch_url;      ///< the first one; empty: none is named
  std::string columns;                ///< "select p.id as _id,\n  p.id,\n  p.name\nfrom …"
  std::vector<Finding> untranslated;  ///< parts without a counterpart, with their place and a replacement
};

/// `name` is for messages, `read` gives the content of a file that is named in it. Throws UsageError,
/// "<name>:<line>: <what>", for a file that cannot be translated at all: one without one jdbc input and one
/// elasticsearch output, an _id that is no column, a statement that asks for the last time in another way.
LogstashIndex read_logstash_pipeline(std::string_view name, std::string_view text,
                                     const std::function<std::string(const std::string& file)>& read);

}  // namespace lockstep
