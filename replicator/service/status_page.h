// The status page on /: files that are the same for every pipeline, and the JSON that they show and fetch
// again every other second. It is for people, who may see it without a password: it has no value of any row,
// so it leaves out a server's errors about a view, a job or a document; `lockstep status` has those.
#pragma once

#include <span>
#include <string>

#include "replicator/clock.h"
#include "replicator/embedded_file.h"
#include "replicator/pipeline/progress.h"
#include "replicator/service/history.h"
#include "replicator/service/watched_status.h"

namespace lockstep {

/// service/page/*: index.html, status.css, status.js.
std::span<const EmbeddedFile> status_page_files();

/// The most important news for a person.
struct Headline {
  enum class Tone {
    kGood,  ///< nothing to do
    kBusy,  ///< nothing to do, but it takes a while
    kWarn,  ///< the operator has to act; the rest is followed
    kBad,   ///< Elasticsearch falls behind, or the state is unknown
  };
  Tone tone = Tone::kGood;
  std::string word;  ///< "Following", "Nobody leads", "Waiting for Elasticsearch"
  std::string text;  ///< one sentence
};

/// "good", "busy", "warn", "bad".
std::string_view name_of(Headline::Tone tone);

/// `status` may be null.
Headline headline_of(const ReplicationProgress& progress, const PipelineStatus* status, SteadyTime now);

class StatusPage {
 public:
  /// The references must outlive this.
  StatusPage(std::string pipeline, const ProgressBoard& board, const Clock& clock, const History& history,
             WatchedStatus& watched);

  /// One JSON object, for page/status.js.
  std::string json() const;

 private:
  const std::string pipeline_;
  const ProgressBoard& board_;
  const Clock& clock_;
  const History& history_;
  WatchedStatus& watched_;
};

}  // namespace lockstep
