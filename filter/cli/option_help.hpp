// The options of a command, as --help shows them. One thread.
#pragma once

#include <boost/program_options.hpp>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace bloomgate::cli {

// "FILE" of an option that takes one, "[=FILE]" where it may be left out, or nothing.
std::string value_name(const boost::program_options::option_description& option);

// An option and its purpose on each line; lines wrap between words before that many columns.
void print_options(const boost::program_options::options_description& options, std::size_t columns, std::ostream& out);

// Between words, before that many columns. Lines after the first begin with `indent` spaces, which the first has
// already.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

// Of the terminal that standard output is, but at least 60 and at most 120; 80 where it is none.
std::size_t help_columns() noexcept;

}  // namespace bloomgate::cli
