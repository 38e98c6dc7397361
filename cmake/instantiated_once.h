// Templates that nearly every file would instantiate for itself, compiled once in instantiated_once.cc: JSON
// and its parser, and fmt's formatting behind every log line, which alone costs a file half of its compile
// time. Part of the precompiled headers; without them each file instantiates its own, and the program is the
// same.
#pragma once

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <string>

#ifdef LOCKSTEP_INSTANTIATE
#define LOCKSTEP_TEMPLATE template
#else
#define LOCKSTEP_TEMPLATE extern template
#endif

LOCKSTEP_TEMPLATE class nlohmann::basic_json<>;

namespace nlohmann::detail {
using FromText = iterator_input_adapter<std::string::const_iterator>;
using FromPointer = iterator_input_adapter<const char*>;
LOCKSTEP_TEMPLATE class lexer<json, FromText>;
LOCKSTEP_TEMPLATE class parser<json, FromText>;
LOCKSTEP_TEMPLATE class lexer<json, FromPointer>;
LOCKSTEP_TEMPLATE class parser<json, FromPointer>;
LOCKSTEP_TEMPLATE class json_sax_dom_parser<json>;
LOCKSTEP_TEMPLATE class json_sax_dom_callback_parser<json>;
}  // namespace nlohmann::detail

namespace fmt::detail {
LOCKSTEP_TEMPLATE void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                        basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace fmt::detail
