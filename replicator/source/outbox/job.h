// Scans of a whole index next to the tail, kept in the source so that they survive their process.
//
// A job reads pages of documents. Its position shows how far Elasticsearch has acknowledged them; each kind
// of job has one kind of position, and the text in which a source stores it is the same in every source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "replicator/ids.h"

namespace lockstep {

enum class JobKind {
  kBackfill,    ///< writes every document of the view
  kComparison,  ///< writes the documents of the view that differ in Elasticsearch or are missing there
  kSweep,       ///< deletes documents that the view does not have
};

/// "backfill", "comparison", "sweep".
std::string_view name_of(JobKind kind);

/// Throws Error for none and for any other text, naming it and the job.
JobKind job_kind(const std::optional<std::string>& name, JobId job);

/// Not begun.
struct NotBegun {
  bool operator==(const NotBegun&) const = default;
};
/// Begun; nothing is acknowledged yet. Changes from now on may concern pages already read.
struct Begun {
  bool operator==(const Begun&) const = default;
};
/// Backfill and comparison: everything up to this document, in the order of _id.
struct AfterDocument {
  DocumentId id;
  bool operator==(const AfterDocument&) const = default;
};
/// Sweep: some pages are acknowledged; the next leader starts the scan over.
struct Scanning {
  bool operator==(const Scanning&) const = default;
};

using JobPosition = std::variant<NotBegun, Begun, AfterDocument, Scanning>;

/// The stored text; none for NotBegun.
std::optional<std::string> to_text(const JobPosition& position);

/// The position that `text` encodes in a job of this kind. Throws Error, naming text and job, if it encodes
/// none.
JobPosition job_position(const std::optional<std::string>& text, JobKind kind, JobId job);

struct Job {
  JobId id;
  IndexId index;
  JobKind kind = JobKind::kBackfill;
  JobPosition position;
  std::int64_t done = 0;  ///< documents acknowledged
  /// Documents of the view, about. None: they are not known.
  std::optional<std::int64_t> total;
  std::string reason;
};

/// A stored job that this Lockstep cannot use: its kind, its position or another value.
struct UnreadableJob {
  JobId id;
  IndexId index;
  std::string why;  ///< names the job and the value, and the remedy
};

/// The jobs that are not finished, oldest first.
struct UnfinishedJobs {
  std::vector<Job> readable;
  std::vector<UnreadableJob> unreadable;

  /// Whether there is such a job, readable or not.
  bool contains(JobId job) const;
};

/// A job's progress, saved with the checkpoint.
struct JobProgress {
  JobId job;
  JobKind kind = JobKind::kBackfill;
  JobPosition position;
  std::int64_t done_documents = 0;  ///< to be added
  bool finished = false;            ///< the source deletes the job
  /// Documents of the whole job, about; none: nothing new is known of them.
  std::optional<std::int64_t> total = {};
};

}  // namespace lockstep
