#include "replicator/pipeline/repair/canonical_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "replicator/elasticsearch/transport/sha256.h"

namespace lockstep {
namespace {

// "-12.50e3" → "-125e2": digits without zeros at either end, and a power of ten unless that is 0.
std::string canonical_number(std::string_view text) {
  std::string digits;
  std::int64_t exponent = 0;
  bool negative = false;
  bool fraction = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '-') {
      negative = true;
    } else if (c == '.') {
      fraction = true;
    } else if (c == 'e' || c == 'E') {
      const std::string power(text.substr(at + 1));
      if (power.size() > 10) return std::string(text);  // not a number for computing
      exponent += std::stoll(power);
      break;
    } else {
      digits += c;
      if (fraction) --exponent;
    }
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  const std::size_t last = digits.find_last_not_of('0');
  exponent += static_cast<std::int64_t>(digits.size() - 1 - last);
  digits.resize(last + 1);
  return (negative ? "-" : "") + digits + (exponent == 0 ? "" : "e" + std::to_string(exponent));
}

// Longer ones are kept as their digests: else a document of megabytes would be in memory several times over.
constexpr std::size_t kLong = 4 * 1024;

// Nothing in JSON begins like it, nor with the "~" that distinguishes a text by its characters from a value
// by its JSON.
std::string digest_of(std::string_view text) {
  std::string digest("sha256:");
  return digest.append(bytes_of(sha256(text)));
}

enum class Elements { kInOrder, kInAnyOrder };

// Takes the parser's events; nlohmann's own values would cut long numbers.
class CanonicalWriter : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit CanonicalWriter(Elements elements) : elements_(elements) {}

  using Members = std::vector<std::pair<std::string, std::string>>;  // names and values

  std::string take() { return std::move(root_); }
  /// Of the root, sorted by name. None: it is no object.
  std::optional<Members> take_members() { return std::move(root_members_); }

  bool null() override { return value("null"); }
  bool boolean(bool given) override { return value(given ? "true" : "false"); }
  bool number_integer(number_integer_t given) override {
    return value(canonical_number(std::to_string(given)));
  }
  bool number_unsigned(number_unsigned_t given) override {
    return value(canonical_number(std::to_string(given)));
  }
  bool number_float(number_float_t, const string_t& text) override { return value(canonical_number(text)); }
  bool string(string_t& given) override { return value(text_of(given)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back().members.emplace_back(text_of(name), "");
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  struct Composite {
    bool object = false;
    Members members;                     // of an object
    std::string elements;                // of an array, the first of them perhaps as a digest
    std::vector<std::string> unordered;  // likewise, until they are sorted
  };

  static std::string text_of(const string_t& given) {
    return given.size() > kLong ? '~' + digest_of(given) : nlohmann::json(given).dump();
  }

  bool open(bool object) {
    open_.push_back({object, {}, {}, {}});
    return true;
  }

  bool close() {
    Composite composite = std::move(open_.back());
    open_.pop_back();
    std::sort(composite.unordered.begin(), composite.unordered.end());
    for (const std::string& element : composite.unordered) add_element(element, composite.elements);
    if (!composite.object) return value('[' + std::move(composite.elements) + ']');
    std::stable_sort(composite.members.begin(), composite.members.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text(1, '{');
    for (const auto& [name, member] : composite.members) {
      if (text.size() > 1) text += ',';
      text.append(name).append(1, ':').append(member);
    }
    if (open_.empty()) root_members_ = std::move(composite.members);
    return value(text += '}');
  }

  bool value(std::string text) {
    if (text.size() > kLong) text = digest_of(text);
    if (open_.empty()) {
      root_ = std::move(text);
    } else if (open_.back().object) {
      open_.back().members.back().second = std::move(text);
    } else if (elements_ == Elements::kInAnyOrder) {
      open_.back().unordered.push_back(std::move(text));
    } else {
      add_element(text, open_.back().elements);
    }
    return true;
  }

  static void add_element(const std::string& text, std::string& elements) {
    if (elements.size() > kLong) elements = digest_of(elements);
    if (!elements.empty()) elements += ',';
    elements += text;
  }

  const Elements elements_;
  std::vector<Composite> open_;
  std::string root_;
  std::optional<Members> root_members_;
};

std::optional<CanonicalWriter> written(std::string_view text, Elements elements) {
  CanonicalWriter writer(elements);
  try {
    if (!nlohmann::json::sax_parse(text, &writer)) return std::nullopt;
    return writer;
  } catch (const nlohmann::json::exception&) {  // a number beyond all bounds, a text that is not UTF-8
    return std::nullopt;
  }
}

std::optional<std::string> canonical(std::string_view text, Elements elements) {
  std::optional<CanonicalWriter> writer = written(text, elements);
  if (!writer) return std::nullopt;
  return writer->take();
}

bool is_same(std::string_view left, std::string_view right, Elements elements) {
  if (left == right) return true;
  const std::optional<std::string> text = canonical(left, elements);
  return text && text == canonical(right, elements);
}

bool has_members(std::string_view expected, std::string_view actual, Elements elements) {
  if (expected == actual) return true;
  std::optional<CanonicalWriter> wanted = written(expected, elements);
  std::optional<CanonicalWriter> found = written(actual, elements);
  if (!wanted || !found) return false;
  auto members = wanted->take_members();
  auto among = found->take_members();
  if (!members || !among) return is_same(expected, actual, elements);
  std::sort(members->begin(), members->end());
  std::sort(among->begin(), among->end());
  return std::includes(among->begin(), among->end(), members->begin(), members->end());
}

}  // namespace

std::optional<std::string> canonical_json(std::string_view text) {
  return canonical(text, Elements::kInOrder);
}

bool same_json(std::string_view left, std::string_view right) {
  return is_same(left, right, Elements::kInOrder);
}

bool same_json_in_any_order(std::string_view left, std::string_view right) {
  return is_same(left, right, Elements::kInAnyOrder);
}

bool has_same_members(std::string_view expected, std::string_view actual) {
  return has_members(expected, actual, Elements::kInOrder);
}

bool has_same_members_in_any_order(std::string_view expected, std::string_view actual) {
  return has_members(expected, actual, Elements::kInAnyOrder);
}

}  // namespace lockstep
