// A look at an index that another program has filled: which of its documents differ from the view's, before
// anything is changed. Unlike a verification (verification.h) it never waits and judges once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "replicator/config/config.h"
#include "replicator/document_version.h"
#include "replicator/elasticsearch/admin/client.h"
#include "replicator/pipeline/repair/passes.h"
#include "replicator/source/applied.h"
#include "replicator/source/view_reader.h"

namespace lockstep {

struct Survey {
  std::int64_t in_index = 0;  ///< documents
  std::int64_t in_view = 0;
  std::int64_t missing = 0;
  std::int64_t different = 0;
  std::int64_t surplus = 0;
  Suspects examples;                 ///< the first few of each
  DocumentVersion greatest_version;  ///< of the documents of the index
  /// Not empty: only the fields that the view has were compared, since these may add others.
  std::vector<std::string> ingest_pipelines = {};

  std::int64_t equal() const { return in_index - different - surplus; }
  /// Whether index and view have documents, and not one _id in common.
  bool nothing_in_common() const { return in_index > 0 && in_view > 0 && surplus == in_index; }
};

struct SurveyListener {
  enum class Pass { kComparing, kLookingForMissing };
  /// Documents done of about so many.
  std::function<void(Pass pass, std::int64_t done, std::int64_t total)> progress;
  std::function<void(const Suspects& suspects)> found;  ///< all of them, some at a time
};

/// The most examples of each kind in a Survey.
inline constexpr std::size_t kSurveyExamples = 5;

/// Throws Error if either side fails.
Survey survey(const Config& config, ViewReader& views, ElasticsearchClient& elasticsearch,
              const AppliedIndex& index, const SurveyListener& listener);

}  // namespace lockstep
