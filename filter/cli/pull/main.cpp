// The program `bloomgate-pull`, which `bloomgate pull` becomes.
#include "filter/cli/pull/pull_command.hpp"
#include "filter/cli/run_command.hpp"

int main(int argc, char** argv) {
  using namespace bloomgate::cli;
  prepare_for_commands();
  return run_command("pull", run_pull, Arguments(argv + (argc > 0 ? 1 : 0), argv + argc));
}
