#include "filter/jobs/kept_output.hpp"

#include <unistd.h>

#include "filter/base/error.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/generations.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

void require_can_keep_pair(const std::string& path, const std::string& store_path) {
  require_can_keep(resolve_link(path));
  if (!store_path.empty()) require_can_keep(resolve_link(store_path));
}

unsigned generations_to_keep(const std::string& path, const std::string& store_path, unsigned keep, unsigned threads,
                             const std::function<void(std::string_view)>& show) {
  if (keep == 0 || access(path.c_str(), F_OK) != 0) return keep;
  try {
    const MappedFilter filter(path);
    filter.verify_body(threads);
    if (!store_path.empty() && access(store_path.c_str(), F_OK) == 0 && filter.header().store_identity != 0) {
      open_store(store_path, filter.header().store_identity, path)->verify(threads);
    }
    return keep;
  } catch (const BloomgateError& error) {
    show(std::string("warning: the old filter is not kept: ") + error.what());
    return 0;
  }
}

}  // namespace bloomgate
