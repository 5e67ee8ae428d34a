#include "filter/cli/mpi/rank_text.hpp"

#include "filter/base/number_text.hpp"

namespace bloomgate::cli {

namespace po = boost::program_options;

po::options_description described(mpi::RankOptions& rank_options) {
  po::options_description options;
  options.add_options()  //
      ("local-lists", po::bool_switch(&rank_options.local_lists),
       "each rank reads all of the lists that it is given, which no other rank has")  //
      ("rank-0-writes", po::bool_switch(&rank_options.only_first_writes),
       "rank 0 writes the parts of all ranks, also where these could write them themselves");
  return options;
}

std::string ranks_text(const mpi::RankNotes& notes, double seconds) {
  const std::string ranks = std::to_string(notes.ranks);
  return "written   by " + std::to_string(notes.writers) + " of " + ranks + " ranks\nexchanged " +
         format_bytes(notes.sent_bytes) + " between " + ranks + " ranks; rank 0 waited for it " +
         std::to_string(static_cast<int>(100 * notes.waited / seconds + 0.5)) + " % of the time\n";
}

}  // namespace bloomgate::cli
