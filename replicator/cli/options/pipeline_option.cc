#include "replicator/cli/options/pipeline_option.h"

#include "replicator/config/source_url.h"
#include "replicator/error.h"
#include "replicator/source/open_source.h"

namespace lockstep {

void PipelineOption::add_to(Options options) {
  options.option("-c,--config", file_, "The pipeline's configuration file")
      .or_environment("LOCKSTEP_CONFIG")
      .value_name("FILE")
      .show_default();
}

void PipelineOption::add_owner_to(Options options) {
  options
      .option("--as", owner_url_,
              "Connect to the source as the owner of the tracked tables, with this url instead of source.url")
      .value_name("URL");
}

Config PipelineOption::load() {
  Config config = load_config(file_);
  if (config.indices.empty())
    throw UsageError(file_ + ": there is no [[index]]; this command needs a pipeline with one");
  require_known_kind(config.source);
  configured_user_ = user_of_url(config.source.url);
  if (!owner_url_.empty()) {
    const std::optional<SeparatedUrl> owner = separate_password(owner_url_);
    if (!owner) throw UsageError("--as: the url's password has a broken percent escape");
    config.source.url = owner->url;
    config.source.password = owner->password;
  }
  return config;
}

}  // namespace lockstep
