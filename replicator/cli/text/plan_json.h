// A plan as `plan --json` prints it; docs/migrations.md explains its keys.
#pragma once

#include <string>
#include <vector>

#include "replicator/pipeline/deployment.h"

namespace lockstep {

/// One line without its end. Keys are added in later versions, never renamed or removed.
std::string plan_json(const std::string& pipeline, const DeploymentPlan& plan,
                      const std::vector<std::string>& grants);

}  // namespace lockstep
