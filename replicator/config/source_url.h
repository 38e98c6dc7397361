// User and password in a PostgreSQL connection URI.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replicator/config/config.h"

namespace lockstep {

/// "postgresql://user:password@host/database" without its password.
struct SeparatedUrl {
  std::string url;
  Secret password;  ///< empty: there was none
};

/// None if the password has a broken percent escape.
std::optional<SeparatedUrl> separate_password(const std::string& url);

/// The user of "postgresql://user@host/database", decoded; empty if the url names none.
std::string user_of_url(std::string_view url);

/// Whether one of the parameters behind the '?' is the user's password.
bool has_password_parameter(std::string_view url);

/// The url as it may be shown: "(secret)" replaces the password, and every parameter that is a secret.
std::string url_without_secrets(const std::string& url);

}  // namespace lockstep
