// What --doctor examines of bloomgate-update: whether its last run went well.
#include "config/update_faults.hpp"
#include "milter/doctor/doctor.hpp"

namespace bloomgate {

void examine_update(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  for (const WhitelistSource& source : options.whitelists) {
    for (std::string& fault : update_faults(source.path)) {
      findings.push_back(
          {DoctorFinding::Level::problem, "update", source.path + ": " + std::move(fault), std::string(kUpdateRemedy)});
    }
  }
}

}  // namespace bloomgate
