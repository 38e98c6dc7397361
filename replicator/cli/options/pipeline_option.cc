#include "replicator/cli/options/pipeline_option.h"

#include <iostream>
#include <variant>

#include "replicator/config/secret.h"
#include "replicator/config/source_url.h"
#include "replicator/error.h"
#include "replicator/source/open_source.h"

namespace lockstep {
namespace {

std::string value_of(const std::string& option, const std::variant<Secret, TextFault>& secret) {
  if (const auto* fault = std::get_if<TextFault>(&secret)) {
    throw UsageError(option + ": " + fault->what + "; " + fault->remedy);
  }
  return std::get<Secret>(secret).value();
}

}  // namespace

void PipelineOption::add_to(Options options) {
  file_.add_to(options, "The pipeline's configuration file");
}

void PipelineOption::add_owner_to(Options options) {
  const Option url =
      options
          .option(
              "--as", owner_url_,
              "Connect to the source as the owner of the tracked tables, with this url instead of source.url")
          .value_name("URL");
  Option file =
      options.option("--as-file", owner_file_, "The same, with the url in a file").value_name("FILE");
  file.excludes(url);
  options.option("--as-env", owner_variable_, "The same, with the url in an environment variable")
      .value_name("NAME")
      .excludes(url)
      .excludes(file);
}

Config PipelineOption::load() {
  const std::string file = file_.file();
  Config config = load_config(file);
  if (config.indices.empty())
    throw UsageError(file + ": there is no [[index]]; this command needs a pipeline with one");
  require_known_kind(config.source);
  configured_user_ = user_of_url(config.source.url);
  if (const std::string url = owner_url(); !url.empty()) {
    const std::optional<SeparatedUrl> owner = separate_password(url);
    if (!owner) throw UsageError("--as: the url's password has a broken percent escape");
    config.source.url = owner->url;
    config.source.password = owner->password;
  }
  return config;
}

std::string PipelineOption::owner_url() const {
  if (!owner_url_.empty() && url_without_secrets(owner_url_) != owner_url_) {
    std::cerr
        << "warning: every user of this machine can read the password of --as in the list of processes; "
           "use --as-file or --as-env\n";
  }
  if (!owner_file_.empty()) return value_of("--as-file", secret_from_file(owner_file_));
  if (!owner_variable_.empty()) return value_of("--as-env", secret_from_environment(owner_variable_));
  return owner_url_;
}

}  // namespace lockstep
