// PostgreSQL's last message to an idle session that it ends. libpqxx's own errors of a dead connection do not
// have it.
#pragma once

#include <pqxx/pqxx>
#include <string>

namespace lockstep {

/// Listens on a connection for as long as it lives.
class LastWords final : public pqxx::errorhandler {
 public:
  /// `connection` must outlive this.
  explicit LastWords(pqxx::connection& connection) : pqxx::errorhandler(connection) {}

  /// In one line; empty: there was none, or none that is known to end the session.
  const std::string& text() const { return text_; }

 private:
  bool operator()(const char message[]) noexcept override;

  std::string text_;
};

}  // namespace lockstep
