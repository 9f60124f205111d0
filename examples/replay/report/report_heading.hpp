// SPDX-License-Identifier: Apache-2.0
// The lines above the table of a report: what was replayed, on what.
#ifndef PAVE_REPLAY_REPORT_HEADING_HPP
#define PAVE_REPLAY_REPORT_HEADING_HPP

#include "report/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace replay {

/// "conversation.csv · 6,000 requests": the file without its folders.
std::string trace_in_words(const setting& of);

/// @param of any of the settings
/// @param swept what differs between them, and is not said
/// @param traces that were replayed; where they are several, none is named
std::string heading(const setting& of, const std::vector<variable>& swept, std::size_t traces);

}  // namespace replay

#endif
