// How the messages of jobs call what their caller can choose. A command line gives the names of its options.
#pragma once

#include <string>

namespace bloomgate {

struct JobNames {
  std::string output = "the output";
  std::string store = "the store";
  std::string new_store = "a new store";
  std::string reject_file = "the file of rejected lines";
  std::string store_seed = "the seed of the store";
  std::string keep_case = "the treatment of case";
  std::string tag_separators = "the choice of tag separators";
  std::string hash = "the hash family";
  std::string strangers = "excluded senders";
  std::string exceptions = "exceptions";
  std::string removals = "removals";
  std::string strict = "the order to be strict";
  std::string no_sender_domains = "the choice to have none";
  std::string larger_bound = "a larger bound";
};

}  // namespace bloomgate
