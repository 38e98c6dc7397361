// Due work: documents that have to be rendered and written again, and changes whose documents are still to be
// found. Each index has one such list in the source, which survives the process that works through it.
//
// U1. Everything noted as due stays due until Elasticsearch has an outcome for each of its documents: a page
//     is taken off when a commit has saved the outcomes, and with them the documents that have become due
//     again.
//
// U2. A document that becomes due again is due once: once found, it joins the page that has it; and a
//     rendering makes up for every page that became due before it (DueOrigin::as_of).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/ids.h"
#include "replicator/source/outbox/job.h"

namespace lockstep {

/// Numbers due work, over all indices of a source, in the order in which it becomes due; from 1 on.
struct DueNumber {
  std::int64_t value = 0;
  auto operator<=>(const DueNumber&) const = default;
};

/// Older than everything: for documents that become due again and were due before the numbering.
inline constexpr DueNumber kDueBeforeAll{0};

/// Documents in a page, at most.
inline constexpr std::int64_t kDuePageDocuments = 2'000;

/// Why the documents of changes are due, for `status`.
inline constexpr std::string_view kManyDocuments = "a change of many documents";
inline constexpr std::string_view kManyChanges = "a transaction of many changes";

/// The origin of due documents.
struct DueOrigin {
  /// A rendering under this version or a greater one makes up for them. None: only one that begins after
  /// their page was read.
  std::optional<DocumentVersion> as_of = {};
  /// Since when they are due, for `wait`. None: from now on.
  std::optional<DueNumber> since = {};
  std::string reason = {};  ///< in words, for `status`
  /// For which they are left alone. Those that wait for such a pause already, or are tried behind one, are
  /// due once, however often they fail.
  std::chrono::milliseconds pause{};
  /// After which they become due: until then no wait includes them, and no list shows them.
  std::chrono::milliseconds later{};
};

/// Documents that become due again while their page is tried are left alone for so long.
inline constexpr std::chrono::milliseconds kTriedAgainAfter{500};

/// Documents of one index that are due.
struct DuePage {
  DueNumber number;
  DueNumber since;  ///< its origin; itself, or older
  std::optional<DocumentVersion> as_of = {};
  DocumentIds ids = {};
};

/// A page whose documents all have their outcomes: it is not due any more, unless documents joined it since
/// it was read, which has raised its `as_of`.
struct WrittenPage {
  DueNumber number;
  std::optional<DocumentVersion> as_of = {};  ///< as it was read
};

/// The list of an index as a snapshot sees it, without the pages that are in hand.
struct NextDue {
  std::optional<DuePage> page = {};  ///< the oldest that may be tried now
  bool has_changes = false;          ///< whose documents are still to be found
  bool keeps_rows = false;           ///< of them a large transaction, whose rows the outbox keeps
  /// Of pages that may not be tried yet: until the first one may. None: there are none.
  std::optional<std::chrono::milliseconds> ready_in = {};
};

/// The list of an index that is not empty.
struct DueList {
  IndexId index;
  std::int64_t documents = 0;              ///< on its pages
  std::int64_t changes = 0;                ///< whose documents are still to be found
  bool keeps_rows = false;                 ///< as NextDue has it
  DueNumber oldest;                        ///< the least `since`
  DueNumber newest;                        ///< the greatest number
  std::chrono::milliseconds oldest_age{};  ///< since the oldest became due
  std::string reason = {};                 ///< of the oldest
};

/// The result of finding the documents of due changes.
struct FoundDue {
  std::int64_t documents = 0;
  /// Jobs that a change of `everything` among the rows has added.
  std::vector<Job> added = {};
  std::set<CaptureId> unknown_captures = {};  ///< as Changes has them
};

}  // namespace lockstep
