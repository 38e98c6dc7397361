#include "replicator/cli/command_line.h"

int main(int argc, char** argv) {
  return lockstep::run_command_line(argc, argv);
}
