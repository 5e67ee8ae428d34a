// The subcommands of the program `bloomgate`. Called by main.cpp.
#pragma once

#include "filter/cli/command_line.hpp"

namespace bloomgate::cli {

// Each gets the arguments after its name on the command line and returns the exit status. Throws UsageError,
// BloomgateError and std::bad_alloc, which main() reports.
int run_add_layer(const Arguments& arguments);
int run_build(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_counting_add(const Arguments& arguments);
int run_counting_export(const Arguments& arguments);
int run_counting_remove(const Arguments& arguments);
int run_fold_layers(const Arguments& arguments);
int run_harvest(const Arguments& arguments);
int run_import(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_intersect(const Arguments& arguments);
int run_learned(const Arguments& arguments);
int run_merge(const Arguments& arguments);
int run_part(const Arguments& arguments);
int run_query(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_rollback(const Arguments& arguments);
int run_share(const Arguments& arguments);
int run_sign(const Arguments& arguments);
int run_size(const Arguments& arguments);
int run_update_store(const Arguments& arguments);
int run_verify(const Arguments& arguments);

}  // namespace bloomgate::cli
