#include "filter/keep/layer_folder.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE_METHOD(InFolder, "the layers of a folder are the files with the suffix, in the order of their names") {
  const std::string path = folder.path().string();
  for (const char* name : {"b.bloom", "a.b-C_1.bloom", ".hidden.bloom", ".bloom", "c.bloom.1", "store", "manifest"}) {
    write_file(folder.file(name), "");
  }
  const std::vector<Layer> want = {{folder.file("a.b-C_1.bloom"), "a.b-C_1"}, {folder.file("b.bloom"), "b"}};
  CHECK(layers_in(path) == want);
  CHECK(all_layers_in(path + "/") == want);
  CHECK(usable_layers_in(path) == want);
  CHECK(is_folder(path));
  CHECK_FALSE(is_folder(folder.file("store")));
  CHECK_FALSE(is_folder(folder.file("none")));
  CHECK(layers_in(folder.file("none")).empty());
  const BloomgateError error = error_of([&] { all_layers_in(folder.file("none")); });
  CHECK(error.code() == ErrorCode::cannot_open);
  CHECK_THAT(error.what(), StartsWith("read the folder " + folder.file("none")));
}

TEST_CASE_METHOD(InFolder,
                 "a folder without a layer, with too many, or with one that has an unusable name is refused") {
  const std::string path = folder.path().string();
  const auto refusal = [&] {
    const BloomgateError error = error_of([&] { usable_layers_in(path); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    return error;
  };
  CHECK(refusal().details().path == path);
  CHECK_THAT(refusal().what(), Contains("make one: bloomgate add-layer " + path + " LIST"));
  for (std::size_t i = 0; i < kMostLayers; ++i) write_file(folder.file(std::to_string(i) + ".bloom"), "");
  CHECK(usable_layers_in(path).size() == kMostLayers);
  write_file(folder.file("x.bloom"), "");
  CHECK_THAT(refusal().what(), Contains("has 65 layers, but a whitelist has at most 64; make one of them"));
  CHECK((refusal().details().expected == "64" && refusal().details().got == "65"));
  fs::remove(folder.file("x.bloom"));
  fs::remove(folder.file("0.bloom"));
  write_file(folder.file(std::string(kMaxLayerNameBytes, 'n') + ".bloom"), "");
  CHECK(usable_layers_in(path).size() == kMostLayers);
  for (const std::string& name :
       {std::string(kMaxLayerNameBytes + 1, 'n'), std::string("a b"), std::string("\xc3\x9f")}) {
    const std::string layer = folder.file(name + ".bloom");
    fs::rename(folder.file("1.bloom"), layer);
    CHECK(refusal().details().path == layer);
    CHECK_THAT(refusal().what(), Contains("rename it to at most 63 letters") && !Contains("\xc3"));
    fs::rename(layer, folder.file("1.bloom"));
  }
}

}  // namespace
}  // namespace bloomgate::test
