#include "milter/learning/logger.hpp"

#if FMT_VERSION < 110000
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::basic_format_args<fmt::format_context>, fmt::detail::locale_ref);
#endif
