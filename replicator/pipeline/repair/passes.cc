#include "replicator/pipeline/repair/passes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "replicator/background.h"
#include "replicator/elasticsearch/read/document_reader.h"

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKeptSuspects = 50'000;  // until a pass is over; more are reported in between
constexpr auto kScanLifetime = 60min;          // of the first pass, which a report may interrupt for long

constexpr std::size_t kIdsAhead = 5'000;       // of the index, so that the view never waits for them
constexpr std::int64_t kMostRendered = 2'000;  // documents of a part; the view renders all, however large
constexpr std::int64_t kListedPage = 5'000;    // ids of the view

void append(std::vector<FoundDocument>& to, std::vector<FoundDocument> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

/// Documents of the index, with the view's.
struct Passes::Part {
  std::vector<FoundDocument> documents;  ///< as the index has them
  std::int64_t bytes = 0;                ///< of JSON to render, about

  // Once they are rendered. Each document is in one of these.
  std::vector<FoundDocument> to_compare;
  std::vector<std::string> json;            ///< of each of those
  std::vector<FoundDocument> not_rendered;  ///< beyond the bytes
  Suspects suspects;
  std::size_t looked_at = 0;  ///< documents: all but those beyond the bytes
};

void Suspects::add(Suspects more) {
  append(missing, std::move(more.missing));
  append(different, std::move(more.different));
  append(surplus, std::move(more.surplus));
}

Passes::Passes(Parts parts, Listener listener)
    : parts_(std::move(parts)),
      listener_(std::move(listener)),
      reader_(parts_.elasticsearch, parts_.index.target()),
      one_each_(!parts_.index.routed) {}

void Passes::compare_documents() {
  DocumentScan scan(parts_.elasticsearch, parts_.index.target(), {.lifetime = kScanLifetime});
  Suspects suspects;
  std::int64_t documents = 0;
  read_ids(scan);
  // The view renders the next part while Elasticsearch gives its documents of this one.
  Background<Part> next;
  const auto begin_next = [&] {
    if (found_.empty()) return;
    next = in_background([this, part = take_part()]() mutable { return render(std::move(part)); });
  };
  begin_next();
  while (next.valid()) {
    Part part = next.get();
    give_back(part);
    if (found_.empty()) read_ids(scan);
    begin_next();
    compare(part);
    read_ids(scan);
    documents += static_cast<std::int64_t>(part.looked_at);
    suspects.add(std::move(part.suspects));
    one_each_ = one_each_ && suspects.surplus.empty();
    listener_.read(documents);
    if (suspects.size() >= kKeptSuspects || !next.valid()) {
      if (next.valid()) next.wait();
      listener_.suspects(std::exchange(suspects, {}));
    }
  }
}

// Until there are enough for a part, and for the one that follows.
void Passes::read_ids(DocumentScan& scan) {
  while (!has_all_ids_ && found_.size() < kIdsAhead) {
    const std::span<const StoredDocument> page = scan.next();
    has_all_ids_ = page.empty();
    for (const StoredDocument& document : page) {
      found_.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
      greatest_version_ = std::max(greatest_version_, document.version);
    }
  }
}

// Documents that the view has not rendered come next. Learns how large documents are.
void Passes::give_back(Part& part) {
  StepSize rendered{part.to_compare.size()};
  for (const std::string& json : part.json) rendered.json_bytes += json.size();
  rendered.bytes = rendered.json_bytes;
  size_.came({}, rendered);
  part.looked_at = part.documents.size() - part.not_rendered.size();
  found_.insert(found_.begin(), std::make_move_iterator(part.not_rendered.begin()),
                std::make_move_iterator(part.not_rendered.end()));
}

// REQUIRES: some documents were not looked at.
Passes::Part Passes::take_part() {
  const RenderedSize::Order order = size_.order(
      std::min(static_cast<std::size_t>(parts_.config.elasticsearch.bulk_bytes), kReplyBytes), kMostRendered);
  const auto end =
      found_.begin() + std::min(static_cast<std::ptrdiff_t>(order.documents), std::ssize(found_));
  Part part;
  part.bytes = order.json_bytes;
  part.documents.assign(std::make_move_iterator(found_.begin()), std::make_move_iterator(end));
  found_.erase(found_.begin(), end);
  return part;
}

// Uses the source alone.
Passes::Part Passes::render(Part part) {
  std::unordered_multimap<std::string_view, std::size_t> places;  // of each _id in the part
  DocumentIds ids;
  for (std::size_t i = 0; i < part.documents.size(); ++i) {
    const DocumentId& id = part.documents[i].id;
    if (!places.contains(id.text)) ids.push_back(id);  // under several routings there may be several
    places.emplace(id.text, i);
  }
  const DocumentIds left_over =
      parts_.snapshot()->render(parts_.index, ids, part.bytes, [&](const RenderedDocument& document) {
        const auto [first, last] = places.equal_range(document.id);
        for (auto place = first; place != last; ++place) take_in(document, place->second, part);
        places.erase(first, last);
      });
  for (const DocumentId& id : left_over) {
    const auto [first, last] = places.equal_range(id.text);
    for (auto place = first; place != last; ++place)
      part.not_rendered.push_back(part.documents[place->second]);
    places.erase(first, last);
  }
  // The view gave no answer about these.
  for (const auto& [id, place] : places) part.suspects.different.push_back(part.documents[place]);
  return part;
}

void Passes::take_in(const RenderedDocument& document, std::size_t place, Part& part) const {
  const FoundDocument& found = part.documents[place];
  if (!document.json) {
    part.suspects.surplus.push_back(found);
  } else if (document.routing != found.routing) {
    // Of several rows with one _id one is compared, and another may have this routing.
    const bool may_be_another_row = document.is_ambiguous && parts_.index.routed;
    (may_be_another_row ? part.suspects.different : part.suspects.surplus).push_back(found);
  } else {
    part.to_compare.push_back(found);
    part.json.emplace_back(*document.json);
  }
}

void Passes::compare(Part& part) {
  reader_.fetch(locations_of(part.to_compare, part.json),
                [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                  const FoundDocument& document = part.to_compare[i];
                  if (!stored || stored->routing != document.routing ||
                      !is_equal(parts_.compared, part.json[i], stored->source))
                    part.suspects.different.push_back(document);
                });
}

std::int64_t Passes::look_for_missing() {
  const std::string& target = parts_.index.target();
  const auto read_after = [&](const std::optional<DocumentId>& after) {
    return parts_.snapshot()->list_page(parts_.index, after, kListedPage);
  };
  Suspects suspects;
  std::int64_t documents = 0;
  // Reads the next page while this one is counted. The source is not used otherwise until then.
  Background<ViewList> next = in_background([&] { return read_after(std::nullopt); });
  for (bool end = false; !end;) {
    const ViewList page = next.get();
    end = page.end;
    if (!end) next = in_background([&, last = page.documents.back().id] { return read_after(last); });
    const auto expected = static_cast<std::int64_t>(page.documents.size());
    const std::vector<DocumentLocation> locations = locations_of(page.documents);
    if (!one_each_ || count_documents(parts_.elasticsearch, target, locations) != expected) {
      look_up_documents(parts_.elasticsearch, target, locations,
                        [&](std::size_t i, const std::optional<StoredDocument>& stored) {
                          const FoundDocument& document = page.documents[i];
                          if (!stored || stored->routing != document.routing)
                            suspects.missing.push_back(document);
                        });
    }
    documents += expected;
    listener_.read(documents);
    if (suspects.size() >= kKeptSuspects || end) {
      if (!end) next.wait();
      listener_.suspects(std::exchange(suspects, {}));
    }
  }
  return documents;
}

}  // namespace lockstep
