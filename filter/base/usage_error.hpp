// The error for a request that makes no sense: an option's value, a pattern, a time; and the names that messages use
// for what a user can ask for.
#pragma once

#include <stdexcept>
#include <string>

namespace bloomgate {

// main() prints it with a pointer to the command's --help, and exits with EX_USAGE.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The library uses these names. A program with a command line uses the names of its options.
struct ChoiceNames {
  std::string output = "the output";
  std::string store = "the store";
  std::string new_store = "a new store";
  std::string reject_file = "the file of rejected lines";
  std::string store_seed = "the seed of the store";
  std::string keep_case = "the treatment of case";
  std::string tag_separators = "the choice of tag separators";
  std::string hash = "the hash family";
  std::string layout = "the layout";
  std::string size_and_seed = "the same expected entries, size, hashes and seed";
  std::string strangers = "excluded senders";
  std::string stranger_query = "a look-up of the whole list";
  std::string exceptions = "exceptions";
  std::string removals = "removals";
  std::string strict = "the order to be strict";
  std::string no_sender_domains = "the choice to have none";
  std::string larger_bound = "a larger bound";
  std::string memory = "the working memory";
  std::string scratch = "the choice of a scratch folder";
  std::string local_lists = "lists of its own";
  std::string run = "name of the run";
  std::string list_name = "the name of the list";
};

const ChoiceNames& choice_names() noexcept;
// Call it before the program starts other threads.
void set_choice_names(ChoiceNames names);

}  // namespace bloomgate
