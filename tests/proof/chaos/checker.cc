#include "tests/proof/chaos/checker.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "tests/support/index_reader.h"
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
  find_leftovers();
  count_dead_letters();
  judge_history();
}

std::vector<Checker::Generation> Checker::generations() {
  const auto connection = pipeline_.database().connect();
  std::vector<Generation> all;
  for (const auto& row :
       support::execute(*connection, "select alias, view from lockstep.index where followed"))
    all.push_back({row[0].c_str(), row[1].c_str()});
  return all;
}

void Checker::compare() {
  const auto begin = Clock::now();
  std::map<Generation, std::string> different;  // what was found last
  for (const Generation& generation : generations()) different[generation] = "not compared";
  const auto connection = pipeline_.database().connect();
  while (!different.empty()) {
    const bool last = Clock::now() - begin > kPatienceForCatchUp;
    const std::vector<Generation> followed = generations();  // one whose index is gone comes to its end
    std::erase_if(different, [&](const auto& entry) {
      return std::find(followed.begin(), followed.end(), entry.first) == followed.end();
    });
    for (auto entry = different.begin(); entry != different.end();) {
      const auto view = support::read_view(*connection, entry->first.view);
      const bool is_there = elasticsearch_.request("HEAD", "/" + entry->first.index).status == 200;
      const auto stored =
          is_there ? support::read_index(elasticsearch_, entry->first.index) : support::StoredDocuments{};
      const std::int64_t count = count_differences(view, stored);
      if (count == 0) {
        entry = different.erase(entry);
        continue;
      }
      entry->second = entry->first.index + ": " + std::to_string(count) + " documents differ:\n" +
                      support::difference(view, stored);
      if (last) findings_.differences += count;
      ++entry;
    }
    if (last) break;
    if (!different.empty()) std::this_thread::sleep_for(milliseconds(200));
  }
  for (const auto& [generation, text] : different) findings_.texts.push_back(text);
  findings_.longest_catch_up =
      std::max(findings_.longest_catch_up, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
}

// One that nobody would find again either. What is being deleted takes its time.
void Checker::find_leftovers() {
  const auto end = Clock::now() + kPatienceForCatchUp;
  std::vector<std::string> left = leftovers();
  for (; !left.empty() && Clock::now() < end; left = leftovers())
    std::this_thread::sleep_for(milliseconds(200));
  findings_.texts.insert(findings_.texts.end(), left.begin(), left.end());
}

std::vector<std::string> Checker::leftovers() {
  std::map<std::string, std::size_t> followed;  // generations by searchers' alias
  for (const Generation& generation : generations()) {
    for (const std::string& purpose : purposes_) {
      const std::string& alias = pipeline_.index(purpose).alias();
      if (generation.index.starts_with(alias)) ++followed[purpose];
    }
  }
  std::vector<std::string> left;
  for (const std::string& purpose : purposes_) {
    const std::vector<std::string> found = pipeline_.index(purpose).concrete();
    if (found.size() == followed[purpose]) continue;
    std::string text =
        purpose + ": " + std::to_string(followed[purpose]) + " generations are followed, and there are";
    for (const std::string& name : found) text += " " + name;
    left.push_back(text);
  }
  return left;
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
