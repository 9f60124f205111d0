// SPDX-License-Identifier: Apache-2.0
// Checks of the values of the command line, one by one and against each other.
#include "command_line/typed_values.hpp"

#include "command_line/limits.hpp"
#include "command_line/policy_names.hpp"
#include "command_line/values.hpp"
#include "traces/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace replay {

namespace {

/// Files, each of which is named once, whatever by.
void check_traces(const std::vector<std::string>& traces) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i].empty()) refuse("--trace", "the name of a file", traces[i]);
    for (std::size_t other = 0; other < i; ++other) {
      std::error_code unknown;
      if (traces[other] == traces[i] || std::filesystem::equivalent(traces[other], traces[i], unknown)) {
        refuse_repeated("--trace", traces[i]);
      }
    }
  }
}

std::vector<policy> policy_list(const std::string& list) {
  std::vector<policy> chosen;
  for (const std::string& name : split(list, ',')) {
    const std::optional<policy> known = find_policy(name);
    if (!known) refuse("--policies", "a comma list of " + known_policies(", "), name);
    if (std::find(chosen.begin(), chosen.end(), *known) != chosen.end()) refuse_repeated("--policies", name);
    chosen.push_back(*known);
  }
  return chosen;
}

/// Options that nothing would look at.
void check_for_partial(const typed_values& typed, const std::vector<policy>& chosen) {
  const bool has_partial = std::any_of(chosen.begin(), chosen.end(), [](policy which) {
    return which == policy::partial || which == policy::partial_cache;
  });
  const typed_values untyped;
  const auto belongs = [&](const char* option, const std::string& text, const std::string& by_default) {
    if (has_partial || text == by_default) return;
    throw input_error(std::string(option) + " belongs to the partial policies, and --policies names none of them");
  };
  belongs("--resume-gate", typed.resume_gate, untyped.resume_gate);
  belongs("--victim-order", typed.victim_order, untyped.victim_order);
  belongs("--cut-shape", typed.cut_shape, untyped.cut_shape);
  belongs("--demand", typed.demand, untyped.demand);
}

/// Options that a cache over two KV groups has no use for.
void check_for_hybrid(const engine_settings& engine, const fitted_costs& of) {
  if (!of.costs.is_hybrid()) return;
  if (engine.finds_running) {
    throw input_error("--find-running belongs to models with one KV group, and " + std::string(of.model) + " has two");
  }
  if (engine.plans.is_default()) return;
  throw input_error("--victim-order, --cut-shape and --demand belong to models with one KV group, and " +
                    std::string(of.model) + " has two");
}

std::vector<double> bound_list(const std::string& option, const std::string& list) {
  std::vector<double> bounds;
  for (const std::string& text : split(list, ',')) {
    const double bound = real_number(option, text, shortest_bound_ms, longest_bound_ms);
    if (std::find(bounds.begin(), bounds.end(), bound) != bounds.end()) refuse_repeated(option, text);
    bounds.push_back(bound);
  }
  if (bounds.size() > most_bounds) {
    throw input_error(option + " takes " + std::to_string(most_bounds) + " bounds at most");
  }
  return bounds;
}

gate gate_named(const std::string& name) {
  if (name == "whole_gap") return gate::whole_gap;
  if (name == "first_chunk") return gate::first_chunk;
  refuse("--resume-gate", "whole_gap or first_chunk", name);
}

template <class Choice, std::size_t Size>
Choice choice_named(const char* option,
                    const std::array<std::pair<std::string_view, Choice>, Size>& names,
                    const std::string& typed) {
  std::string known;
  for (std::size_t i = 0; i < Size; ++i) {
    if (typed == names[i].first) return names[i].second;
    if (i > 0) known += i + 1 == Size ? " or " : ", ";
    known += names[i].first;
  }
  refuse(option, known, typed);
}

plan_choice plans_named(const typed_values& typed) {
  plan_choice plans;
  plans.order = choice_named("--victim-order", order_names, typed.victim_order);
  plans.shape = choice_named("--cut-shape", shape_names, typed.cut_shape);
  if (typed.demand == "exact") return plans;
  const std::size_t equals = typed.demand.find('=');
  const std::string name = typed.demand.substr(0, equals);
  if (equals == std::string::npos || (name != "ahead" && name != "to_watermark")) {
    refuse("--demand", "exact, ahead=STEPS or to_watermark=BLOCKS", typed.demand);
  }
  plans.demand = name == "ahead" ? demand_choice::ahead : demand_choice::to_watermark;
  plans.amount = whole_number<std::int64_t>("--demand " + name, typed.demand.substr(equals + 1), 1, most_blocks);
  return plans;
}

const fitted_costs* costs_named(const std::string& model, const std::string& gpu) {
  if (!is_known_model(model)) refuse("--model", "one of " + known_models(), model);
  if (!is_known_gpu(gpu)) refuse("--gpu", "one of " + known_gpus(), gpu);
  const fitted_costs* const costs = find_costs(model, gpu);
  if (costs == nullptr) throw input_error("there are no step costs of --model " + model + " on --gpu " + gpu);
  return costs;
}

std::size_t job_count(const std::optional<std::string>& typed) {
  if (typed) return whole_number<std::size_t>("--jobs", *typed, 1, most_jobs);
  return (std::max)(std::size_t{1}, static_cast<std::size_t>(std::thread::hardware_concurrency()));
}

/// Blocks of a share of the pool, rounded down.
std::int64_t blocks_of(double percent, std::int64_t pool_blocks) {
  // 4.35 % of 20,000 blocks are 870, though the product in binary fractions falls short of it.
  constexpr double rounding = 1e-6;
  return static_cast<std::int64_t>(std::floor(percent * static_cast<double>(pool_blocks) / 100 + rounding));
}

/// A value that may be swept.
struct varied_text {
  std::string option;               ///< what its refusal names
  std::optional<std::string> text;  ///< nothing for a default that is no text
};

using varied_texts = std::array<varied_text, variable_count>;

varied_text& text_of(varied_texts& texts, variable which) { return texts[static_cast<std::size_t>(which)]; }

/// Each point of the cross product of the sweeps.
class point_maker {
 public:
  point_maker(const engine_settings& engine, std::int64_t kv_tokens) : engine_(engine), kv_tokens_(kv_tokens) {}

  point operator()(varied_texts& texts) const {
    const varied_text& rate = text_of(texts, variable::rate);
    const varied_text& reserve = text_of(texts, variable::reserve);
    const varied_text& watermark = text_of(texts, variable::watermark);
    point made;
    made.engine = engine_;
    made.rate = real_number(rate.option, rate.text.value_or(default_rate), lowest_rate, highest_rate);
    made.engine.pool_blocks = pool_blocks(text_of(texts, variable::blocks));
    made.engine.reserve_blocks =
        whole_number<std::int64_t>(reserve.option, reserve.text.value_or(default_reserve), 0, made.engine.pool_blocks);
    made.watermark_percent =
        real_number(watermark.option, watermark.text.value_or(default_watermark), 0, highest_watermark_percent);
    made.engine.watermark_blocks = blocks_of(made.watermark_percent, made.engine.pool_blocks);
    return made;
  }

 private:
  std::int64_t pool_blocks(const varied_text& typed) const {
    if (typed.text) return whole_number<std::int64_t>(typed.option, *typed.text, 1, most_blocks);
    if (kv_tokens_ < engine_.tokens_per_block) {
      throw input_error("the GPU holds the KV of " + std::to_string(kv_tokens_) + " tokens, less than one block of " +
                        std::to_string(engine_.tokens_per_block));
    }
    return kv_tokens_ / engine_.tokens_per_block;
  }

  engine_settings engine_;
  std::int64_t kv_tokens_;
};

/// The cross product, in which the values of the last sweep change fastest.
std::vector<point> points_of(const std::vector<sweep>& sweeps, varied_texts texts, const point_maker& make) {
  std::size_t count = 1;
  for (const sweep& one : sweeps) {
    varied_text& value = text_of(texts, one.varied);
    if (value.text) throw input_error("--sweep " + variable_name(one.varied) + " does not go with " + value.option);
    value.option = "--sweep " + variable_name(one.varied);
    count *= one.values.size();
  }
  std::vector<point> points;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (auto one = sweeps.rbegin(); one != sweeps.rend(); ++one) {
      text_of(texts, one->varied).text = one->values[rest % one->values.size()];
      rest /= one->values.size();
    }
    points.push_back(make(texts));
  }
  return points;
}

}  // namespace

options check(const typed_values& typed) {
  options checked;
  if (!typed.traces.empty() && typed.seed) {
    throw input_error("--seed belongs to the synthetic workload and does not go with --trace");
  }
  check_traces(typed.traces);
  if (typed.json && typed.json->empty()) refuse("--json", "the name of a file or -", *typed.json);
  if (typed.curves && !typed.json) throw input_error("--curves adds to the JSON and needs --json");
  checked.traces = typed.traces;
  checked.json = typed.json;
  checked.has_curves = typed.curves;
  if (typed.seed) {
    checked.seed = whole_number<std::uint64_t>("--seed", *typed.seed, 0, (std::numeric_limits<std::uint64_t>::max)());
  }
  if (typed.requests) checked.requests = whole_number<std::size_t>("--requests", *typed.requests, 1, most_requests);
  checked.costs = costs_named(typed.model, typed.gpu);
  checked.policies = policy_list(typed.policies);
  checked.jobs = job_count(typed.jobs);

  engine_settings engine;
  engine.tokens_per_block =
      whole_number<std::int64_t>("--tokens-per-block", typed.tokens_per_block, 1, most_tokens_per_block);
  engine.resume_gate = gate_named(typed.resume_gate);
  engine.plans = plans_named(typed);
  check_for_partial(typed, checked.policies);
  engine.finds_running = typed.find_running;
  check_for_hybrid(engine, *checked.costs);
  engine.keeps_timeline = typed.curves;
  const std::vector<sweep> sweeps = read_sweeps(typed.sweeps);
  for (const sweep& one : sweeps) checked.swept.push_back(one.varied);
  varied_texts texts;
  text_of(texts, variable::rate) = {"--rate", typed.rate};
  text_of(texts, variable::blocks) = {"--blocks", typed.blocks};
  text_of(texts, variable::reserve) = {"--reserve", typed.reserve};
  text_of(texts, variable::watermark) = {"--watermark", typed.watermark};
  checked.points = points_of(sweeps, texts, point_maker(engine, checked.costs->costs.kv_tokens));

  checked.slo.tpot_ms = bound_list("--slo-tpot-ms", typed.slo_tpot_ms);
  checked.slo.ttft_ms = real_number("--slo-ttft-ms", typed.slo_ttft_ms, shortest_bound_ms, longest_bound_ms);
  return checked;
}

}  // namespace replay
