// `lockstep wait`: returns when Elasticsearch has everything committed, whichever process replicates it.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "replicator/cli/options/duration_option.h"
#include "replicator/cli/options/options.h"
#include "replicator/cli/options/pipeline_option.h"
#include "replicator/cli/text/progress_line.h"
#include "replicator/cli/verb.h"
#include "replicator/elasticsearch/transport/curl_transport.h"
#include "replicator/error.h"
#include "replicator/pipeline/waiter.h"
#include "replicator/process/stop_signals.h"
#include "replicator/service/leader_report.h"
#include "replicator/service/no_leader_reason.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

class Wait final : public Verb {
 public:
  const char* name() const override { return "wait"; }
  const char* summary() const override { return "Wait until Elasticsearch has everything that is committed"; }
  const char* example() const override {
    return "lockstep wait -c shop.toml --refresh\n"
           "xid=$(psql shop -qAt -c \"begin; select pg_current_xact_id(); update … ; commit\")\n"
           "lockstep wait -c shop.toml --xid \"$xid\" --timeout 5s";
  }

  void add_options(Options options) override {
    pipeline_.add_to(options);
    options
        .option(
            "--xid", xid_,
            "Wait for this transaction, by the result of `select pg_current_xact_id()` inside it; default: "
            "everything that is committed now")
        .value_name("N");
    options.flag("--refresh", refresh_, "Make the documents searchable, too");
    add_duration(options, "--timeout", timeout_, "Give up after this time: 500ms, 30s or 30, 2m; 0: never");
  }

  ExitCode run() override {
    const WaitRequest request = request_of_options();
    const Config config = pipeline_.load();
    Waiter::Searched searched{config.pipeline, {}};
    for (const IndexConfig& index : config.indices) searched.aliases.push_back(index.alias);
    Waiter waiter([&] { return open_applied_watch(config); }, make_transport_factory(config.elasticsearch),
                  searched, config.elasticsearch.request_timeout,
                  words_of_waits([&] { return open_status_reader(config); }));
    const StopSignals signals;
    ProgressLine line;
    const WaitAnswer answer = waiter.wait(
        request,
        [&](const std::string& reason) {
          if (line.due()) line.show("waiting: " + reason, ProgressLine::TooLong::kWrapped);
        },
        signals.token());
    line.clear();
    const ExitCode code = exit_code_of(answer);
    tell_warnings(config);
    return code;
  }

 private:
  // Documents to which no change leads may be out of date all the same: `status` has the same lines.
  static void tell_warnings(const Config& config) {
    const std::optional<PipelineStatus> status = open_status_reader(config)->read();
    if (!status) return;
    for (const std::string& warning : warnings_of(*status))
      std::cerr << "lockstep: warning: " << warning << '\n';
  }

  WaitRequest request_of_options() const {
    WaitRequest request;
    request.refresh = refresh_ ? WaitRequest::Refresh::kYes : WaitRequest::Refresh::kNo;
    if (!xid_.empty()) {
      request.transaction = parse_transaction_id(xid_);
      if (!request.transaction) {
        throw UsageError("--xid: \"" + xid_ +
                         "\" is not a transaction; write the number that `select pg_current_xact_id()` gave");
      }
    }
    const std::chrono::milliseconds timeout = duration_of("--timeout", timeout_);
    if (timeout.count() > 0) request.timeout = timeout;
    return request;
  }

  ExitCode exit_code_of(const WaitAnswer& answer) const {
    const std::string doing = xid_.empty() ? "waiting until all commits have been applied"
                                           : "waiting until transaction " + xid_ + " has been applied";
    switch (answer.kind) {
      case WaitAnswer::Kind::kApplied:
        break;
      case WaitAnswer::Kind::kUnknownTransaction:
        throw UsageError("--xid " + xid_ + ": " + answer.reason);
      case WaitAnswer::Kind::kTimedOut:
        throw Error({doing, "not within " + timeout_ + ": " + answer.reason, ""});
      case WaitAnswer::Kind::kRolledBack:
      case WaitAnswer::Kind::kStopped:
        throw Error({doing, answer.reason, ""});
    }
    return ExitCode::kDone;
  }

  PipelineOption pipeline_;
  std::string xid_;
  std::string timeout_ = "30s";
  bool refresh_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_wait_verb() {
  return std::make_unique<Wait>();
}

}  // namespace lockstep
