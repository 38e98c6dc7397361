#include "replicator/cli/command_tree.h"

#include <CLI/CLI.hpp>

namespace lockstep {
namespace {

OptionNode option_of(const CLI::Option& option) {
  OptionNode node;
  for (const std::string& name : option.get_snames()) node.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) node.names.push_back("--" + name);
  if (option.get_type_size_max() > 0) node.value = option.get_type_name();
  node.summary = option.get_description();
  node.environment = option.get_envname();
  node.fallback = option.get_default_str();
  return node;
}

ArgumentNode argument_of(const CLI::Option& option) {
  ArgumentNode node{option.get_name(), option.get_description()};
  if (option.get_items_expected_max() > 1)
    node.count = ArgumentNode::Count::kSeveral;
  else if (!option.get_required())
    node.count = ArgumentNode::Count::kOneAtMost;
  return node;
}

}  // namespace

CommandNode tree_of(const CLI::App& app) {
  CommandNode node{.name = app.get_name(), .summary = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional())
      node.options.push_back(option_of(*option));
    else
      node.arguments.push_back(argument_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    node.commands.push_back(tree_of(*command));
  return node;
}

}  // namespace lockstep
