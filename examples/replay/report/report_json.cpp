// SPDX-License-Identifier: Apache-2.0
// The JSON forms of reports; their keys come in a fixed order.
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace replay {

namespace {

using json = nlohmann::ordered_json;

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

void add_curves(json& object, const curves& drawn) {
  json& timeline = object["timeline"] = json::array();
  for (const moment& one : drawn.timeline) {
    json item;
    item["time_s"] = one.time_ms / 1000;
    item["held_blocks"] = one.held_blocks;
    item["parked"] = one.parked;
    timeline.push_back(item);
  }
  json& percentiles = object["tpot_percentiles_ms"] = json::array();
  for (const std::optional<double>& one : drawn.tpot_percentiles_ms) percentiles.push_back(or_null(one));
}

json run_object(const run& one) {
  const summary& found = one.found;
  json object;
  object["policy"] = one.policy;
  object["preemptions"] = found.preemptions;
  object["self_parked"] = found.self_parked;
  object["refused"] = found.refused;
  object["blocks_short"] = found.blocks_short;
  object["blocks_reclaimed"] = found.blocks_reclaimed;
  object["blocks_over_evicted"] = found.blocks_over_evicted;
  object["tokens_recomputed"] = found.tokens_recomputed;
  object["tokens_revived"] = found.tokens_revived;
  object["tokens_cached"] = found.tokens_cached;
  object["restores"] = found.restores;
  object["restores_from_prefix"] = found.restores_from_prefix;
  json& restore = object["restore_latency_ms"];
  restore["mean"] = or_null(found.restore_latency_ms.mean);
  restore["p50"] = or_null(found.restore_latency_ms.p50);
  restore["p99"] = or_null(found.restore_latency_ms.p99);
  json& tpot = object["tpot_ms"];
  tpot["mean"] = or_null(found.tpot_ms.mean);
  tpot["p50"] = or_null(found.tpot_ms.p50);
  tpot["p90"] = or_null(found.tpot_ms.p90);
  tpot["p99"] = or_null(found.tpot_ms.p99);
  json& ttft = object["ttft_ms"];
  ttft["mean"] = or_null(found.ttft_ms.mean);
  ttft["p50"] = or_null(found.ttft_ms.p50);
  ttft["p90"] = or_null(found.ttft_ms.p90);
  ttft["p99"] = or_null(found.ttft_ms.p99);
  json& gap = object["longest_gap_ms"];
  gap["p50"] = or_null(found.longest_gap_ms.p50);
  gap["p99"] = or_null(found.longest_gap_ms.p99);
  json& slo = object["slo"] = json::array();
  for (const attainment& bound : found.slo) {
    json item;
    item["tpot_ms"] = bound.tpot_ms;
    item["attainment"] = or_null(bound.share);
    item["with_ttft"] = or_null(bound.with_ttft);
    slo.push_back(item);
  }
  object["makespan_s"] = found.makespan_s;
  object["throughput_tokens_per_s"] = or_null(found.throughput_tokens_per_s);
  object["wall_s"] = one.wall_s;
  if (one.drawn) add_curves(object, *one.drawn);
  return object;
}

json report_object(const report& results) {
  json object;
  object["trace"] = results.of.trace;
  object["requests"] = results.of.requests;
  object["rate"] = results.of.rate;
  object["model"] = results.of.model;
  object["gpu"] = results.of.gpu;
  object["pool_blocks"] = results.of.pool_blocks;
  if (results.of.hybrid.full_blocks > 0) {
    object["full_blocks"] = results.of.hybrid.full_blocks;
    object["window_blocks"] = results.of.hybrid.window_blocks;
  }
  object["tokens_per_block"] = results.of.tokens_per_block;
  object["reserve_blocks"] = results.of.reserve_blocks;
  object["watermark_percent"] = results.of.watermark_percent;
  object["watermark_blocks"] = results.of.watermark_blocks;
  object["victim_order"] = name_of(order_names, results.of.plans.order);
  object["cut_shape"] = name_of(shape_names, results.of.plans.shape);
  object["demand"] = results.of.plans.demand_name();
  object["find_running"] = results.of.finds_running;
  json& runs = object["runs"] = json::array();
  for (const run& one : results.runs) runs.push_back(run_object(one));
  return object;
}

std::string text_of(const json& object) {
  // A file name need not be UTF-8; JSON has to be.
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json(const report& results) { return text_of(report_object(results)); }

std::string to_json(const sweep_report& results) {
  json object;
  json& points = object["points"] = json::array();
  for (const report& point : results.points) points.push_back(report_object(point));
  return text_of(object);
}

}  // namespace replay
