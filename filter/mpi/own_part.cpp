#include "filter/mpi/own_part.hpp"

#include "filter/layout/sizing.hpp"

namespace bloomgate::mpi {
namespace {

FilterShape shape_with_size(const BuildOptions& options) {
  FilterShape shape = shape_of(options);
  shape.block_count = blocks_for(*options.expected_entries, options.bits_per_entry, shape.block_bytes);
  return shape;
}

// At the end rank 0 reads all of them again, and reports for all ranks.
std::unique_ptr<StrangerCheck> read_strangers(const Ranks& ranks, const SharedArray& array,
                                              const FilterRequest& request, BuildOptions options) {
  const unsigned rank = ranks.communicator.rank();
  const HashRange range = rank == 0 ? HashRange{} : array.hashes_of(rank);
  const auto& files = array.has_blocks(rank) ? request.strangers : std::vector<std::string>{};
  auto check =
      std::make_unique<StrangerCheck>(files, options, request.is_strict, ranks.observer.warns(), ranks.stop, range);
  require_strangers(request, check->review());
  return check;
}

}  // namespace

OwnPart begin_part(const Ranks& ranks, const FilterRequest& request, const BuildOptions& options) {
  const unsigned rank = ranks.communicator.rank();
  OwnPart part;
  part.shape = shape_with_size(options);
  part.array.emplace(part.shape, ranks.communicator.ranks());
  part.strangers = read_strangers(ranks, *part.array, request, options);
  part.bits = std::make_unique<OwnBits>(part.shape, *part.array, rank, options.threads, memory_for_hashes(request),
                                        options.scratch_folder);
  if (KnownStrangers* const strangers = part.strangers->strangers()) part.bits->set_strangers(*strangers);
  if (part.shape.store_seed && part.array->has_blocks(rank)) {
    part.store = std::make_unique<OwnStore>(options.scratch_folder, options.threads);
    part.bits->set_store(*part.store);
  }
  return part;
}

std::uint64_t memory_for_hashes(const FilterRequest& request) noexcept {
  constexpr std::uint64_t kByDefault = std::uint64_t{256} << 20;
  if (!request.memory_bytes) return kByDefault;
  return request.strangers.empty() ? *request.memory_bytes : *request.memory_bytes / 2;
}

std::string scratch_folder_of(const Communicator& communicator, const FilterRequest& request) {
  constexpr const char* kUsual = "/var/tmp";
  return communicator.rank() == 0 || request.scratch_folder ? request.options.scratch_folder : kUsual;
}

}  // namespace bloomgate::mpi
