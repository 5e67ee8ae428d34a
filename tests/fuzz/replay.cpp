// Goes once through the inputs that are kept for a fuzz target: `NAME FOLDER...`. For a compiler without libFuzzer.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (!entry.is_regular_file()) continue;
      // The last name printed is that of the input that fails.
      std::cout << entry.path().string() << std::endl;
      std::ifstream file(entry.path(), std::ios::binary);
      if (!file) {
        std::cerr << entry.path().string() << ": cannot be opened\n";
        return EXIT_FAILURE;
      }
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::cout << inputs << " inputs\n";
  return inputs != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
