#include "filter/mpi/own_part.hpp"

#include "filter/layout/sizing.hpp"

namespace bloomgate::mpi {
namespace {

FilterShape shape_with_size(const BuildOptions& options) {
  FilterShape shape = shape_of(options);
  shape.block_count = blocks_for(*options.expected_entries, options.bits_per_entry, shape.block_bytes);
  return shape;
}

// Rank 0 looks through all of them at the end, and speaks for all ranks.
std::unique_ptr<StrangerCheck> read_strangers(unsigned rank, const SharedArray& array, BuildOptions options,
                                              const PartNeeds& needs) {
  const HashRange range = rank == 0 ? HashRange{} : array.hashes_of(rank);
  const auto& files = array.has_blocks(rank) ? needs.strangers : std::vector<std::string>{};
  return std::make_unique<StrangerCheck>(files, options, needs.is_strict, needs.names, needs.show, needs.stop, range);
}

}  // namespace

OwnPart begin_part(const Communicator& communicator, const BuildOptions& options, const PartNeeds& needs) {
  const unsigned rank = communicator.rank();
  OwnPart part;
  part.shape = shape_with_size(options);
  part.array.emplace(part.shape, communicator.ranks());
  part.strangers = read_strangers(rank, *part.array, options, needs);
  part.bits = std::make_unique<OwnBits>(part.shape, *part.array, rank, options.threads, needs.memory_bytes,
                                        needs.scratch_folder);
  if (KnownStrangers* const strangers = part.strangers->strangers()) part.bits->set_strangers(*strangers);
  if (part.shape.store_seed && part.array->has_blocks(rank)) {
    part.store = std::make_unique<OwnStore>(needs.scratch_folder, options.threads);
    part.bits->set_store(*part.store);
  }
  return part;
}

std::string scratch_folder_of(const Communicator& communicator, const BuildOptions& options, bool is_given) {
  constexpr const char* kUsual = "/var/tmp";
  return communicator.rank() == 0 || is_given ? options.scratch_folder : kUsual;
}

}  // namespace bloomgate::mpi
