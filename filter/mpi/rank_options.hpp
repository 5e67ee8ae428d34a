// The options of `bloomgate-mpi` that a program on one machine has no use for.
#pragma once

#include <boost/program_options.hpp>

namespace bloomgate::mpi {

struct RankOptions {
  bool local_lists = false;
  bool only_first_writes = false;

  // For a parser, which stores them in here.
  boost::program_options::options_description described() {
    namespace po = boost::program_options;
    po::options_description options;
    options.add_options()  //
        ("local-lists", po::bool_switch(&local_lists),
         "each rank reads all of the lists that it is given, which no other rank has")  //
        ("rank-0-writes", po::bool_switch(&only_first_writes),
         "rank 0 writes the parts of all ranks, also where these could write them themselves");
    return options;
  }
};

}  // namespace bloomgate::mpi
