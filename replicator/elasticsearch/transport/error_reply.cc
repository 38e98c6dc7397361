#include "replicator/elasticsearch/transport/error_reply.h"

#include <algorithm>
#include <regex>

#include "replicator/elasticsearch/transport/text_encoding.h"
#include "replicator/one_line.h"

namespace lockstep {
namespace {

/// Cuts out the bytes that Elasticsearch 7 quotes around a JSON error as it received them: the whole HTTP
/// request, with its Authorization header.
std::string without_received_bytes(std::string_view text) {
  constexpr std::string_view kBegin = "(byte[])\"";
  constexpr std::string_view kEnd = "\"; line:";
  std::string kept;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    kept += text.substr(0, begin);
    if (begin == std::string_view::npos) return kept;
    kept += "(request)";
    const std::size_t end = text.find(kEnd, begin + kBegin.size());
    if (end == std::string_view::npos) return kept;
    text.remove_prefix(end + 1);
  }
}

// The numbers are part of the engines' interface, the same in every version.
std::string_view remedy_of_block(int number) {
  switch (number) {
    case 4:
      return "open the index";
    case 5:
      return "set index.blocks.read_only to null";
    case 6:
      return "set cluster.blocks.read_only to null in the cluster's settings";
    case 8:
      return "set index.blocks.write to null";
    case 9:
      return "set index.blocks.metadata to null";
    case 12:
      return "free disk space; the block then ends by itself, or set index.blocks.read_only_allow_delete to "
             "null";
    case 13:
      return "set cluster.blocks.read_only_allow_delete to null in the cluster's settings";
    default:
      return "remove the block that it names";
  }
}

std::string_view text_at(simdjson::dom::element object, std::string_view key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return {};
  return text;
}

/// Amazon OpenSearch Service refuses a signature with {"message": "The request signature we calculated …"},
/// and a user with
/// {"Message": "User: … is not authorized …"}. Other texts may be a document's field.
std::string_view message_of_aws(simdjson::dom::element reply) {
  simdjson::dom::object object;
  if (reply.get(object) != simdjson::SUCCESS || object.size() != 1) return {};
  for (const std::string_view key : {"message", "Message"}) {
    const std::string_view text = text_at(reply, key);
    for (const std::string_view begin :
         {"The request signature", "Signature expired", "The security token", "User: "}) {
      if (text.starts_with(begin)) return text;
    }
  }
  return {};
}

/// A proxy or firewall may quote the request, with the documents in it.
std::string named_in_words(std::string_view foreign, bool is_json) {
  if (foreign.empty()) return {};
  const std::string_view kind = is_json ? "JSON" : foreign.front() == '<' ? "HTML" : "text";
  return std::to_string(foreign.size()) + " bytes of " + std::string(kind) +
         " instead of an error of Elasticsearch";
}

}  // namespace

std::string without_values(const std::string& type, std::string_view reason) {
  struct Known {
    std::string_view begin, end;
  };
  // Fields, types and limits of the mapping; the rest quotes the document.
  constexpr Known kKnown[] = {{"failed to parse field [", "] in document"},
                              {"object mapping for [", "] tried to parse"},
                              {"mapping set to strict, dynamic introduction of [", "] is not allowed"},
                              {"Limit of ", " has been exceeded"},
                              {"Document contains at least one immense term in field=\"", "\""}};
  for (const Known& known : kKnown) {
    const std::size_t begin = reason.find(known.begin);
    if (begin == std::string_view::npos) continue;
    const std::size_t end = reason.find(known.end, begin + known.begin.size());
    if (end == std::string_view::npos) continue;
    // With the bracket or the quotation mark that closes it.
    const std::size_t closed = known.end.starts_with(' ') ? end + known.end.size() : end + 1;
    return type + ": " + std::string(reason.substr(begin, closed - begin));
  }
  return type;
}

std::string without_request(std::string_view reason) {
  std::size_t end = reason.size();
  for (const std::string_view quoted : {"request: ", "BulkShardRequest", "source["}) {
    end = std::min(end, reason.find(quoted));
  }
  while (end > 0 && std::string_view(" ,:[").find(reason[end - 1]) != std::string_view::npos) --end;
  return std::string(reason.substr(0, end));
}

bool may_work_later(std::int64_t status) {
  return status == 408 || status == 429 || status >= 500;
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes > kEllipsis.size() ? max_bytes - kEllipsis.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

ErrorCause read_error_cause(simdjson::dom::element error) {
  std::string_view bare;
  if (error.get(bare) == simdjson::SUCCESS) {
    return {.reason = shortened(in_one_line(without_received_bytes(bare)), kMaxReasonBytes)};
  }

  std::string reason(text_at(error, "reason"));
  simdjson::dom::element innermost = error;
  simdjson::dom::element next;
  while (innermost["caused_by"].get(next) == simdjson::SUCCESS) innermost = next;
  const std::string_view cause = text_at(innermost, "reason");
  if (!cause.empty() && cause != reason) {
    if (!reason.empty()) reason += ": ";
    reason += cause;
  }
  if (reason.ends_with(';')) reason.pop_back();  // behind each block; the remedy comes behind one
  return {.type = std::string(text_at(error, "type")),
          .breaker = text_at(innermost, "type") == "circuit_breaking_exception",
          .reason = shortened(in_one_line(without_received_bytes(reason)), kMaxReasonBytes)};
}

std::string remedy_of_blocks(std::string_view reason) {
  std::string remedy;
  const auto add = [&](std::string_view step) {
    if (remedy.find(step) != std::string::npos) return;
    remedy.append(remedy.empty() ? "" : "; ").append(step);
  };
  // [STATUS/NUMBER/words]: the status and the words differ between versions.
  static const std::regex block(R"(\[[A-Z_]+/(\d{1,4})/)");
  const std::string text(reason);
  for (std::sregex_iterator found(text.begin(), text.end(), block), end; found != end; ++found) {
    add(remedy_of_block(std::stoi((*found)[1])));
  }
  return remedy.empty() ? "remove the block of the index or the cluster" : remedy;
}

ErrorCause read_error_reply(std::string_view body) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::element error;
  const bool is_json = parser.parse(without_lone_surrogates(body)).get(root) == simdjson::SUCCESS;
  if (is_json && root["error"].get(error) == simdjson::SUCCESS && !text_at(error, "type").empty()) {
    return read_error_cause(error);
  }
  if (is_json && !message_of_aws(root).empty()) {
    return {.reason = shortened(in_one_line(message_of_aws(root)), kMaxReasonBytes)};
  }
  return {.reason = named_in_words(body, is_json)};
}

}  // namespace lockstep
