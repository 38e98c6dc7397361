// A pipeline's leader, and the last leader's knowledge of both sides.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replicator/document_version.h"
#include "replicator/ids.h"

namespace lockstep {

/// Which database this is and how far it has come: shows that it was restored or replaced.
struct SourceIdentity {
  std::string place;          ///< names the database; in a different one positions have another meaning
  std::string timeline;       ///< changes with a promotion or a recovery to an earlier point
  std::int64_t progress = 0;  ///< never falls while place and timeline stay
  std::string tables = {};    ///< names Lockstep's own tables: others when a dump was restored over them
  /// The marks of leave_mark(), the newest last: an older state lacks the newest. Empty: `progress` shows it.
  std::vector<std::string> marks = {};
};

/// The last leader's notes on both sides, in the source.
struct KnownPartners {
  std::string place;                       ///< SourceIdentity::place; empty: no process has led yet
  std::map<IndexId, std::string> targets;  ///< by index: the uuid of the real index
  bool quiet = false;   ///< the last leader ended with no write that is likely to be on its way
  bool landed = false;  ///< nor one that could be
  bool operator==(const KnownPartners&) const = default;
};

/// The JSON that the checkpoint keeps of them, "{}" before the first leader. Throws Error for any other text.
KnownPartners partners_in(const std::string& text);

/// The part of it that has the targets.
std::string targets_text(const KnownPartners& partners);

class Lead {
 public:
  virtual ~Lead() = default;

  /// Becomes leader, for as long as this connection lives: true. False: another process leads.
  virtual bool try_lead() = 0;

  /// Whether some process leads.
  virtual bool is_led() = 0;

  /// Throws a retryable Error if the source went back behind its leader's last save.
  virtual SourceIdentity identity() = 0;

  /// Leaves a mark in the source, durably, if `progress` may come again after it went back. REQUIRES:
  /// leading.
  virtual void leave_mark(Epoch epoch) = 0;

  /// The epoch of the last leadership.
  virtual Epoch epoch() = 0;

  virtual KnownPartners known_partners() = 0;

  /// Raises the epoch above the current one and above `at_least`, notes the partners, as of a leader that is
  /// not quiet, and leaves a mark, durably. REQUIRES: leading.
  virtual Epoch raise_epoch(Epoch at_least, const KnownPartners& partners) = 0;

  /// Notes that the leader of `epoch` ends with no write on its way that is likely to land; `landed`: with
  /// none that could. Without effect when a later one leads.
  virtual void note_quiet(Epoch epoch, bool landed) = 0;
};

}  // namespace lockstep
