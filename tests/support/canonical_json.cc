#include "tests/support/canonical_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace lockstep::support {
namespace {

// Writes what the parser reports. nlohmann's own values would turn 1.10 into 1.1 and cut long numbers.
class Writer : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  bool null() override { return put("null"); }
  bool boolean(bool value) override { return put(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return put(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return put(text); }
  bool string(string_t& value) override { return put(nlohmann::json(value).dump()); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open('{'); }
  bool end_object() override { return close('}'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_array() override { return close(']'); }
  bool key(string_t& value) override {
    separate();
    out_ += nlohmann::json(value).dump();
    out_ += ':';
    after_key_ = true;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception&) override {
    error_ = "not JSON at byte " + std::to_string(position) + ", near '" + token + "'";
    return false;
  }
  const std::string& error() const { return error_; }

 private:
  void separate() {
    if (after_key_) {
      after_key_ = false;
    } else if (!first_.empty()) {
      if (!first_.back()) out_ += ',';
      first_.back() = false;
    }
  }
  bool put(std::string_view text) {
    separate();
    out_ += text;
    return true;
  }
  bool open(char bracket) {
    separate();
    out_ += bracket;
    first_.push_back(true);
    return true;
  }
  bool close(char bracket) {
    first_.pop_back();
    out_ += bracket;
    return true;
  }

  std::string& out_;
  std::vector<bool> first_;
  bool after_key_ = false;
  std::string error_;
};

}  // namespace

std::string canonical_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  Writer writer(out);
  if (!nlohmann::json::sax_parse(text, &writer)) {
    throw std::runtime_error(writer.error() + ": " + std::string(text.substr(0, 300)));
  }
  return out;
}

}  // namespace lockstep::support
