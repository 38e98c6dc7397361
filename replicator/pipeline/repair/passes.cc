#include "replicator/pipeline/repair/passes.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lockstep {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kKeptSuspects = 50'000;  // until a pass is over; more are reported in between
constexpr auto kScanLifetime = 60min;          // of the first pass, which a report may interrupt for long

// Documents of a page of the index. A page has to fit into memory, and costs a request.
constexpr std::int64_t kPageStored = 1024 * 1024;  // bytes on the disk; several times as much as JSON
constexpr std::int64_t kLargestPage = 2'000;
constexpr std::size_t kCautiousPage = 100;   // when the size of documents is unknown
constexpr std::int64_t kListedPage = 5'000;  // ids of the view

std::size_t page_of(std::optional<std::int64_t> average_stored_size) {
  if (!average_stored_size) return kCautiousPage;
  const std::int64_t page = kPageStored / std::max<std::int64_t>(*average_stored_size, 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(page, 1, kLargestPage));
}

void append(std::vector<FoundDocument>& to, std::vector<FoundDocument> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

/// Documents as the index has them.
struct Passes::IndexPage {
  std::vector<FoundDocument> documents;
  std::string json;               ///< of all of them, one after the other
  std::vector<std::size_t> ends;  ///< of each in `json`
  DocumentVersion greatest_version;

  std::string_view json_of(std::size_t document) const {
    const std::size_t begin = document == 0 ? 0 : ends[document - 1];
    return std::string_view(json).substr(begin, ends[document] - begin);
  }
};

void Suspects::add(Suspects more) {
  append(missing, std::move(more.missing));
  append(different, std::move(more.different));
  append(surplus, std::move(more.surplus));
}

Passes::Passes(Parts parts, Listener listener)
    : parts_(std::move(parts)), listener_(std::move(listener)), one_each_(!parts_.index.routed) {}

Passes::IndexPage Passes::next_page(DocumentScan& scan) {
  IndexPage page;
  const std::span<const StoredDocument> documents = scan.next();
  std::size_t bytes = 0;
  for (const StoredDocument& document : documents) bytes += document.source.size();
  page.json.reserve(bytes);
  page.documents.reserve(documents.size());
  for (const StoredDocument& document : documents) {
    page.documents.push_back({DocumentId{std::string(document.id)}, std::string(document.routing)});
    page.ends.push_back(page.json.append(document.source).size());
    page.greatest_version = std::max(page.greatest_version, document.version);
  }
  return page;
}

void Passes::compare_documents() {
  const std::string& target = parts_.index.target();
  const std::optional<std::int64_t> size = parts_.elasticsearch.average_stored_size(target);
  DocumentScan scan(parts_.elasticsearch, target,
                    {.page = page_of(size), .sources = true, .lifetime = kScanLifetime});
  const auto read = [&] { return next_page(scan); };
  Suspects suspects;
  std::int64_t documents = 0;
  // Reads the next page while this one is compared. Elasticsearch is not used otherwise until then.
  std::future<IndexPage> next = std::async(std::launch::async, read);
  for (bool end = false; !end;) {
    const IndexPage page = next.get();
    end = page.documents.empty();
    if (!end) {
      next = std::async(std::launch::async, read);
      suspects.add(suspects_of(page));
      one_each_ = one_each_ && suspects.surplus.empty();
      greatest_version_ = std::max(greatest_version_, page.greatest_version);
      documents += static_cast<std::int64_t>(page.documents.size());
      listener_.read(documents);
    }
    if (suspects.size() >= kKeptSuspects || end) {
      if (!end) next.wait();
      listener_.suspects(std::exchange(suspects, {}));
    }
  }
}

Suspects Passes::suspects_of(const IndexPage& page) {
  const std::unique_ptr<SourceSnapshot> snapshot = parts_.snapshot();
  Suspects suspects;
  std::unordered_multimap<std::string_view, std::size_t> places;  // of each _id in the page
  DocumentIds ids;
  places.reserve(page.documents.size());
  ids.reserve(page.documents.size());
  for (std::size_t i = 0; i < page.documents.size(); ++i) {
    const DocumentId& id = page.documents[i].id;
    if (!places.contains(id.text)) ids.push_back(id);  // under several routings there may be several
    places.emplace(id.text, i);
  }
  while (!ids.empty()) {
    ids = snapshot->render(
        parts_.index, ids, parts_.config.elasticsearch.bulk_bytes, [&](const RenderedDocument& document) {
          const auto [first, last] = places.equal_range(document.id);
          for (auto place = first; place != last; ++place)
            compare(document, page.documents[place->second], page.json_of(place->second), suspects);
          places.erase(first, last);
        });
  }
  // Of these the view has said nothing.
  for (const auto& [id, place] : places) suspects.different.push_back(page.documents[place]);
  return suspects;
}

void Passes::compare(const RenderedDocument& document, const FoundDocument& found, std::string_view json,
                     Suspects& suspects) const {
  if (!document.json) {
    suspects.surplus.push_back(found);
  } else if (document.routing != found.routing) {
    // Of several rows with one _id one is compared, and another may have this routing.
    const bool may_be_another_row = document.is_ambiguous && parts_.index.routed;
    (may_be_another_row ? suspects.different : suspects.surplus).push_back(found);
  } else if (!is_equal(parts_.compared, *document.json, json)) {
    suspects.different.push_back(found);
  }
}

std::int64_t Passes::look_for_missing() {
  const std::string& target = parts_.index.target();
  const auto read_after = [&](const std::optional<DocumentId>& after) {
    return parts_.snapshot()->list_page(parts_.index, after, kListedPage);
  };
  Suspects suspects;
  std::int64_t documents = 0;
  // Reads the next page while this one is counted. The source is not used otherwise until then.
  std::future<ViewList> next = std::async(std::launch::async, read_after, std::nullopt);
  for (bool end = false; !end;) {
    const ViewList page = next.get();
    end = page.end;
    if (!end) next = std::async(std::launch::async, read_after, page.documents.back().id);
    const auto expected = static_cast<std::int64_t>(page.documents.size());
    const std::vector<DocumentLocation> locations = locations_of(page.documents);
    if (!one_each_ || count_documents(parts_.elasticsearch, target, locations) != expected) {
      fetch_documents(parts_.elasticsearch, target, locations,
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
