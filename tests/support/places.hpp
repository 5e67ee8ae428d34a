// Where the tests find what they read and start. The paths are in one small file, so that the compiler's cache knows
// all others again, wherever the tree is.
#pragma once

#include <string>

namespace bloomgate::test {

std::string source_folder();   // of this repository
std::string milter_program();  // bloomgate-milter, as it was built
std::string faulty_calls();    // the library support/faulty_calls.cpp; empty with a sanitizer

}  // namespace bloomgate::test
