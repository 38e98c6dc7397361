// What Elasticsearch takes for itself to show a change.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/elasticsearch_index.h"

namespace lockstep::benchmarks {

/// Changes that nobody measures, before those that count.
inline constexpr int kWarmUp = 20;

/// Milliseconds from a bulk request with one ready-made document until a GET shows it, in an index that holds
/// little else; one every `period`.
std::vector<double> bare_writes(int samples, std::chrono::milliseconds period);

/// The same in an index that is there: of the documents with these ids, one after the other.
std::vector<double> bare_writes(const support::ElasticsearchIndex& index, const std::vector<std::string>& ids,
                                int samples, std::chrono::milliseconds period);

}  // namespace lockstep::benchmarks
