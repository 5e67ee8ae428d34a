#include "tests/support/places.hpp"

namespace bloomgate::test {

std::string source_folder() {
  return BLOOMGATE_SOURCE_FOLDER;
}

std::string milter_program() {
  return BLOOMGATE_MILTER_PROGRAM;
}

std::string faulty_calls() {
  return BLOOMGATE_FAULTY_CALLS;
}

}  // namespace bloomgate::test
