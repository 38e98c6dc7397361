#include "replicator/pipeline/checkpoint.h"

namespace lockstep {

void Checkpoint::commit(SourceTransaction& transaction) {
  save_and_commit(transaction, writer_.take_acknowledged());
}

void Checkpoint::save(Source& source, const Position& read_to) {
  Acknowledged acknowledged = writer_.take_acknowledged();
  if (writer_.acknowledgements().open(Lane::tail()) == 0) acknowledged.position = read_to;
  save_and_commit(*source.begin(), acknowledged);
}

void Checkpoint::save_and_commit(SourceTransaction& transaction, const Acknowledged& acknowledged) {
  transaction.save(versions_.epoch(), acknowledged);
  transaction.commit();
  saved_at_ = std::chrono::steady_clock::now();
  listener_(acknowledged);
}

}  // namespace lockstep
