// SPDX-License-Identifier: Apache-2.0
// Words for a setting; a reserve or a watermark of nothing is not mentioned.
#include "report/report_heading.hpp"

#include "report/figures.hpp"

#include <algorithm>

namespace replay {

namespace {

std::string pool_in_words(const setting& of) {
  const double tokens = static_cast<double>(of.pool_blocks) * static_cast<double>(of.tokens_per_block);
  const double gib = tokens * static_cast<double>(of.kv_bytes_per_token) / (1024.0 * 1024.0 * 1024.0);
  return whole(of.pool_blocks) + " blocks of " + whole(of.tokens_per_block) + " tokens, " + tenths(gib) + " GiB";
}

}  // namespace

std::string trace_in_words(const setting& of) {
  // Without a slash rfind gives npos, and npos + 1 is 0.
  return of.trace.substr(of.trace.rfind('/') + 1) + " · " + whole(static_cast<double>(of.requests)) + " requests";
}

std::string heading(const setting& of, const std::vector<variable>& swept, std::size_t traces) {
  const auto is_swept = [&](variable which) { return std::find(swept.begin(), swept.end(), which) != swept.end(); };
  std::string text = traces == 1 ? trace_in_words(of) : std::to_string(traces) + " traces";
  if (!is_swept(variable::rate)) text += " at rate " + as_typed(of.rate);
  text += "\n" + of.model + " on " + of.gpu + " · ";
  text += is_swept(variable::blocks) ? "blocks of " + whole(of.tokens_per_block) + " tokens" : pool_in_words(of);
  text += "\n";

  if (of.hybrid.full_blocks > 0 && !is_swept(variable::blocks) && traces == 1) {
    text += "two pools: " + whole(of.hybrid.full_blocks) + " blocks of the full-attention layers, " +
            whole(of.hybrid.window_blocks) + " of those with a window\n";
  }

  std::string kept_free;
  if (!is_swept(variable::reserve) && of.reserve_blocks > 0) {
    kept_free = "reserve " + whole(of.reserve_blocks) + " blocks";
  }
  if (!is_swept(variable::watermark) && of.watermark_percent > 0) {
    if (!kept_free.empty()) kept_free += " · ";
    kept_free += "watermark " + as_typed(of.watermark_percent) + " %";
    if (!is_swept(variable::blocks)) kept_free += ", " + whole(of.watermark_blocks) + " blocks";
  }
  if (!kept_free.empty()) text += kept_free + "\n";
  if (!of.plans.is_default()) {
    text += "plans of partial: " + name_of(order_names, of.plans.order) + " · " + name_of(shape_names, of.plans.shape) +
            " · " + of.plans.demand_name() + "\n";
  }
  if (of.finds_running) text += "requests find the prefixes of those that run\n";
  return text;
}

}  // namespace replay
