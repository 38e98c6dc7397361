// A transaction on the database in memory. It records what is written and applies it in commit() (S6).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replicator/source/transaction.h"
#include "tests/support/fake_database.h"

namespace lockstep::fake {

/// What a connection knows beside the database. Its transactions share it.
struct Connection {
  int start = 0;                   ///< of the server
  int open = 0;                    ///< transactions
  std::set<IndexId> finding = {};  ///< whose due documents are being found
};

class FakeTransaction final : public SourceTransaction {
 public:
  /// Without an epoch commit() never throws Deposed.
  FakeTransaction(Database& database, Connection& connection, std::optional<Epoch> epoch);
  ~FakeTransaction() override;

  void take_snapshot() override { seen_ = database_.snapshot(); }
  Position position() override;
  DocumentIds render(const AppliedIndex& index, const DocumentIds& ids, std::int64_t max_bytes,
                     const DocumentSink& sink) override;
  ViewPageEnd render_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                          std::int64_t limit, std::int64_t max_bytes, const DocumentSink& sink) override;
  ViewList list_page(const AppliedIndex& index, const std::optional<DocumentId>& after,
                     std::int64_t limit) override;
  std::optional<std::int64_t> estimate_documents(const AppliedIndex& index) override;
  std::vector<StaleDocument> stale(const AppliedIndex& index,
                                   const std::vector<FoundDocument>& found) override;
  std::vector<DefinitionDifference> reshaped(const AppliedIndex& /*index*/) override { return {}; }
  void require_readable(const AppliedIndex& index) override;

  Changes read_changes(const Position& from, const ChunkLimits& limits) override;
  std::optional<DocumentIds> resolve(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                                     const SearchLimits& limits) override;
  NextDue next_due(IndexId index, const std::vector<DueNumber>& in_hand) override;

  DocumentIds render_for(DocumentVersion version, const AppliedIndex& index, const DocumentIds& ids,
                         std::int64_t max_bytes, const DocumentSink& sink) override;
  ViewPageEnd render_page_for(DocumentVersion version, const AppliedIndex& index,
                              const std::optional<DocumentId>& after, std::int64_t limit,
                              std::int64_t max_bytes, const DocumentSink& sink) override;

  void add_job(IndexId index, JobKind kind, const std::string& reason) override;
  void add_due_changes(const AppliedIndex& index, const std::vector<CapturedChange>& changes,
                       DocumentVersion as_of) override;
  void add_due_transaction(const AppliedIndex& index, const LargeTransaction& transaction,
                           DocumentVersion as_of) override;
  void add_due(const AppliedIndex& index, const DocumentIds& ids, const DueOrigin& origin) override;
  void add_repair(const AppliedIndex& index, const std::vector<FoundDocument>& documents,
                  const DueOrigin& origin) override;
  void begin_job(JobId job) override;
  void set_aside(IndexId index, const std::string& reason) override;
  void take_back(IndexId index) override;
  void skip_changes() override;
  void save(const Acknowledged& acknowledged) override;
  std::vector<std::size_t> new_dead_letters(const std::vector<DeadLetter>& refused) override;

  bool may_be_shown() override;
  Committed commit() override;

 private:
  /// Changes the state, and what commit() returns.
  using Write = std::function<void(State&, Committed&)>;

  void record(Write write) { recorded_.push_back(std::move(write)); }
  RenderedDocument rendered(const AppliedIndex& index, const std::string& id, const Row* row) const;
  /// The same for a document that is about to be written.
  RenderedDocument rendered_for(DocumentVersion version, const AppliedIndex& index, const std::string& id,
                                const Row* row);

  using Renderer = std::function<RenderedDocument(const std::string& id, const Row* row)>;
  DocumentIds render_with(const Renderer& renderer, const AppliedIndex& index, const DocumentIds& ids,
                          std::int64_t max_bytes, const DocumentSink& sink);
  ViewPageEnd render_page_with(const Renderer& renderer, const AppliedIndex& index,
                               const std::optional<DocumentId>& after, std::int64_t limit,
                               std::int64_t max_bytes, const DocumentSink& sink);

  Database& database_;
  Connection& connection_;
  const std::optional<Epoch> epoch_;
  std::shared_ptr<const State> seen_;
  std::vector<Write> recorded_;
};

}  // namespace lockstep::fake
