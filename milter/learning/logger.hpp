// Declares spdlog's logger, for files that write log lines. The code for fmt's formatting is compiled once, in
// logger.cpp, and not in each of these files.
#pragma once

#include <fmt/format.h>
#include <spdlog/logger.h>

#if FMT_VERSION < 110000  // from then on it is no template
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                                   fmt::basic_format_args<fmt::format_context>,
                                                   fmt::detail::locale_ref);
#endif
