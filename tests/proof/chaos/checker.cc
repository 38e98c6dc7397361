#include "tests/proof/chaos/checker.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/support/view_reader.h"

namespace lockstep::chaos {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatienceForCatchUp{600};
// Lockstep tries what Elasticsearch may take later again by itself, after ten seconds and then with growing
// pauses.
constexpr std::chrono::seconds kPatienceForRetries{180};

std::int64_t count_differences(const support::ExpectedDocuments& view,
                               const support::StoredDocuments& index) {
  std::int64_t different = 0;
  for (const auto& [address, json] : view) {
    const auto stored = index.find(address);
    if (stored == index.end() || stored->second.json != json) ++different;
  }
  for (const auto& [address, stored] : index) {
    if (!view.contains(address)) ++different;
  }
  return different;
}

}  // namespace

Checker::Checker(support::PipelineUnderTest& pipeline, support::RecordingProxy& recorder,
                 std::vector<std::string> purposes)
    : pipeline_(pipeline), recorder_(recorder), purposes_(std::move(purposes)) {}

void Checker::check() {
  ++findings_.checks;
  compare();
  count_dead_letters();
  judge_history();
}

void Checker::compare() {
  const auto begin = Clock::now();
  std::map<std::string, std::string> different;  // what was found last, by purpose
  for (const std::string& purpose : purposes_) different[purpose] = "not compared";
  const auto connection = pipeline_.database().connect();
  while (!different.empty()) {
    const bool last = Clock::now() - begin > kPatienceForCatchUp;
    for (auto entry = different.begin(); entry != different.end();) {
      support::ElasticsearchIndex& index = pipeline_.index(entry->first);
      const auto view = support::read_view(*connection, pipeline_.view(entry->first));
      const auto stored = index.documents();
      const std::int64_t count = count_differences(view, stored);
      if (count == 0) {
        entry = different.erase(entry);
        continue;
      }
      entry->second = entry->first + ": " + std::to_string(count) + " documents differ:\n" +
                      support::difference(view, stored);
      if (last) findings_.differences += count;
      ++entry;
    }
    if (last) break;
    if (!different.empty()) std::this_thread::sleep_for(milliseconds(200));
  }
  for (const auto& [purpose, text] : different) findings_.texts.push_back(text);
  findings_.longest_catch_up =
      std::max(findings_.longest_catch_up, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
}

void Checker::count_dead_letters() {
  pipeline_.database().reconnect();
  const auto in_vain = Clock::now() + kPatienceForRetries;
  pqxx::result letters;
  const auto may_go_away = [&letters] {
    return std::any_of(letters.begin(), letters.end(), [](const auto& letter) {
      const int status = letter["status"].template as<int>();
      return status == 0 || status == 408 || status == 429 || status >= 500;
    });
  };
  do {
    letters = pipeline_.database().query(
        "select i.alias, d.id, d.status, d.error_type, d.reason from lockstep.dead_letter d "
        "join lockstep.index i on i.id = d.index");
    if (!may_go_away()) break;
    std::this_thread::sleep_for(milliseconds(500));
  } while (Clock::now() < in_vain);
  findings_.dead_letters += static_cast<std::int64_t>(letters.size());
  if (letters.empty()) return;
  std::string text = "dead letter: ";
  for (const auto& field : letters[0]) text += std::string(field.c_str()) + " ";
  findings_.texts.push_back(text);
}

void Checker::judge_history() {
  recorder_.history().settle();
  const std::vector<std::string> violations = recorder_.history().violations();
  for (std::size_t i = violations_; i < violations.size(); ++i) findings_.texts.push_back(violations[i]);
  violations_ = violations.size();
}

}  // namespace lockstep::chaos
