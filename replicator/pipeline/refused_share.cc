#include "replicator/pipeline/refused_share.h"

#include <nlohmann/json.hpp>

#include "replicator/elasticsearch/transport/error_reply.h"
#include "replicator/error.h"
#include "replicator/one_line.h"
#include "replicator/pipeline/own_refusals.h"
#include "replicator/quantity.h"

namespace lockstep {

RefusedShare::RefusedShare(double most, const AppliedPipeline& pipeline) : most_(most) {
  for (const AppliedIndex& index : pipeline.indices) {
    if (!index.beside) aliases_[index.id] = index.alias;
  }
}

void RefusedShare::count(const Acknowledged& acknowledged, const std::vector<std::size_t>& fresh) {
  std::map<IndexId, std::int64_t> known;  // refused again
  for (const DeadLetter& letter : acknowledged.refused) ++known[letter.index];
  for (const std::size_t position : fresh) {
    const DeadLetter& letter = acknowledged.refused[position];
    // An overload is no fault of the mapping or of the view.
    if (letter.status == 0 || may_work_later(letter.status)) continue;
    --known[letter.index];
    Window& window = windows_[letter.index];
    const bool is_own = is_own_refusal(letter.error_type);
    if (is_own) ++window.own;
    if (window.refused++ == 0) {
      window.first =
          is_own ? letter.error_type + ": document " + in_one_line(letter.id.text) + ": " + letter.reason
                 : without_values(letter.error_type, letter.reason);
    }
  }
  for (const auto& [index, documents] : acknowledged.documents) {
    if (!aliases_.contains(index)) continue;
    Window& window = windows_[index];
    window.documents += documents - known[index];
    if (window.documents < kWindow) continue;
    judge(index, window);
    window = {};
  }
}

void RefusedShare::judge(IndexId index, const Window& window) const {
  if (static_cast<double>(window.refused) <= most_ * static_cast<double>(window.documents)) return;
  const std::string who = window.own == 0                ? "Elasticsearch refuses "
                          : window.own == window.refused ? "lockstep refuses "
                                                         : "lockstep and Elasticsearch refuse ";
  throw Error({"writing into index " + aliases_.at(index),
               "of its last " + grouped(window.documents) + " documents " + who + grouped(window.refused) +
                   ", more than replication.max_refused_share = " + nlohmann::json(most_).dump() +
                   "; the first: " + window.first,
               std::string(window.own == window.refused ? "fix the view or the configuration"
                                                        : "fix the mapping or the view") +
                   " and start again: nothing is lost, the checkpoint has not passed "
                   "them; or raise max_refused_share to make dead letters of them"});
}

}  // namespace lockstep
