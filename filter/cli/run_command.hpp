// How a program runs a command: what goes wrong in it is told to the person or the script that has called it.
#pragma once

#include <functional>
#include <string_view>

#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {

struct Failure;

// Gets the arguments after the command's name and returns the exit status. Throws UsageError, BloomgateError and
// std::bad_alloc.
using CommandFunction = std::function<int(const Arguments& arguments)>;

// What main() does before it runs a command: damaged storage ends the program with a sentence, a file that is too large
// is a write that fails, and messages name options. Before there are other threads.
void prepare_for_commands();

// Runs `command` and returns the status that the program ends with.
int run_command(std::string_view name, const CommandFunction& command, const Arguments& arguments);

// Says what went wrong: a sentence on standard error, which `advice` ends where the command line is at fault, and where
// `arguments` ask for JSON an object on standard output. Each is one piece, which the processes of a job cannot mix
// with those of others. Returns the exit status.
int tell_failure(const Failure& failure, std::string_view who, std::string_view advice, const Arguments& arguments);

}  // namespace bloomgate::cli
