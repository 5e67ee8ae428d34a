// The options that `bloomgate-mpi` has besides, and what its reports say besides.
#pragma once

#include <boost/program_options.hpp>
#include <iostream>
#include <string>

#include "filter/mpi/rank_options.hpp"

namespace bloomgate::cli {

// For a parser, which stores them in there.
boost::program_options::options_description described(mpi::RankOptions& rank_options);

// The command line is the same for all ranks, and rank 0 speaks for all about it.
template <typename Parse>
auto parse_as_first(const mpi::Communicator& communicator, Parse parse) {
  if (communicator.rank() != 0) std::cout.setstate(std::ios::failbit);
  auto command = parse();
  std::cout.clear();
  return command;
}

// For rank 0's report to a person: who wrote, and what the exchange took of so many seconds.
std::string ranks_text(const mpi::RankNotes& notes, double seconds);

}  // namespace bloomgate::cli
