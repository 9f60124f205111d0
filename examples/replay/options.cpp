// SPDX-License-Identifier: Apache-2.0
// CLI11 finds the options; their values are taken as text and checked here, to the last character.
#include "options.hpp"

#include "help.hpp"
#include "trace.hpp"
#include "values.hpp"

#include <pave/config.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace replay {

namespace {

constexpr std::size_t most_requests = 10'000'000;
constexpr std::int64_t most_blocks = 16'777'216;
constexpr std::int64_t most_tokens_per_block = 65'536;
constexpr std::size_t most_bounds = 16;
constexpr double shortest_bound_ms = 0.001;
constexpr double longest_bound_ms = 1e6;
constexpr double lowest_rate = 0.001;
constexpr double highest_rate = 1000;

struct named_policy {
  std::string_view name;
  policy which;
};

constexpr std::array<named_policy, 3> policies{
    {{"whole", policy::whole}, {"partial", policy::partial}, {"unlimited", policy::unlimited}}};

/// The values as they were typed, or their defaults; nothing where the default is no text.
struct typed_values {
  std::optional<std::string> trace;
  std::optional<std::string> seed;
  std::optional<std::string> requests;
  std::string rate = "1";
  std::string model = "llama-2-13b";
  std::string gpu = "a100";
  std::optional<std::string> blocks;
  std::string tokens_per_block = "16";
  std::string policies = "whole,partial,unlimited";
  std::string reserve = "0";
  std::string resume_gate = "whole_gap";
  std::string slo_tpot_ms = "50,60,75,100";
  std::string slo_ttft_ms = "2000";
  std::optional<std::string> json;
};

[[noreturn]] void refuse_repeated(const std::string& option, const std::string& element) {
  throw input_error(option + " names '" + element + "' twice");
}

std::vector<policy> policy_list(const std::string& list) {
  std::vector<policy> chosen;
  for (const std::string& name : split(list)) {
    const auto known =
        std::find_if(policies.begin(), policies.end(), [&](const named_policy& one) { return one.name == name; });
    if (known == policies.end()) refuse("--policies", "a comma list of whole, partial, unlimited", name);
    if (std::find(chosen.begin(), chosen.end(), known->which) != chosen.end()) {
      refuse_repeated("--policies", name);
    }
    chosen.push_back(known->which);
  }
  return chosen;
}

std::vector<double> bound_list(const std::string& option, const std::string& list) {
  std::vector<double> bounds;
  for (const std::string& text : split(list)) {
    const double bound = real_number(option, text, shortest_bound_ms, longest_bound_ms);
    if (std::find(bounds.begin(), bounds.end(), bound) != bounds.end()) {
      refuse_repeated(option, text);
    }
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

const fitted_costs* costs_named(const std::string& model, const std::string& gpu) {
  if (!is_known_model(model)) refuse("--model", "one of " + known_models(), model);
  if (!is_known_gpu(gpu)) refuse("--gpu", "one of " + known_gpus(), gpu);
  const fitted_costs* const costs = find_costs(model, gpu);
  if (costs == nullptr) throw input_error("there are no step costs of --model " + model + " on --gpu " + gpu);
  return costs;
}

std::int64_t pool_blocks(const std::optional<std::string>& typed,
                         std::int64_t tokens_per_block,
                         std::int64_t kv_tokens) {
  if (typed) return whole_number<std::int64_t>("--blocks", *typed, 1, most_blocks);
  if (kv_tokens < tokens_per_block) {
    throw input_error("the GPU holds the KV of " + std::to_string(kv_tokens) + " tokens, less than one block of " +
                      std::to_string(tokens_per_block));
  }
  return kv_tokens / tokens_per_block;
}

options check(const typed_values& typed) {
  options checked;
  if (typed.trace && typed.seed) {
    throw input_error("--seed belongs to the synthetic workload and does not go with --trace");
  }
  if (typed.trace && typed.trace->empty()) refuse("--trace", "the name of a file", *typed.trace);
  if (typed.json && typed.json->empty()) refuse("--json", "the name of a file or -", *typed.json);
  checked.trace = typed.trace;
  checked.json = typed.json;
  if (typed.seed) {
    checked.seed = whole_number<std::uint64_t>("--seed", *typed.seed, 0, (std::numeric_limits<std::uint64_t>::max)());
  }
  if (typed.requests) checked.requests = whole_number<std::size_t>("--requests", *typed.requests, 1, most_requests);
  checked.rate = real_number("--rate", typed.rate, lowest_rate, highest_rate);
  checked.costs = costs_named(typed.model, typed.gpu);
  checked.policies = policy_list(typed.policies);

  engine_settings& engine = checked.engine;
  engine.tokens_per_block =
      whole_number<std::int64_t>("--tokens-per-block", typed.tokens_per_block, 1, most_tokens_per_block);
  engine.pool_blocks = pool_blocks(typed.blocks, engine.tokens_per_block, checked.costs->costs.kv_tokens);
  engine.reserve_blocks = whole_number<std::int64_t>("--reserve", typed.reserve, 0, engine.pool_blocks);
  engine.resume_gate = gate_named(typed.resume_gate);

  checked.slo.tpot_ms = bound_list("--slo-tpot-ms", typed.slo_tpot_ms);
  checked.slo.ttft_ms = real_number("--slo-ttft-ms", typed.slo_ttft_ms, shortest_bound_ms, longest_bound_ms);
  return checked;
}

/// CLI11's mistake in one sentence of ours.
std::string sentence_for(const CLI::App& app, const CLI::ParseError& mistake) {
  const std::vector<std::string> unexpected = app.remaining();
  if (!unexpected.empty()) return "unexpected argument '" + unexpected.front() + "'; --help lists the options";
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 1) return option->get_name() + " is given more than once";
  }
  const std::string words = mistake.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&mistake) != nullptr) {
    return words.substr(0, words.find(':')) + " needs a value";
  }
  return words.substr(0, words.find('\n'));
}

std::string version() {
  return "pave-replay " + std::to_string(PAVE_VERSION_MAJOR) + "." + std::to_string(PAVE_VERSION_MINOR) + "." +
         std::to_string(PAVE_VERSION_PATCH) + "\n";
}

/// Adds options whose values stay text.
class option_adder {
 public:
  explicit option_adder(CLI::App& app) : app_(app) {}

  void operator()(const std::string& name, const char* type, std::string& value, const std::string& description) {
    app_.add_option(name, value, description)->type_name(type)->default_str(value);
  }

  /// An empty value is a value too, which CLI11's own optional values are not.
  void operator()(const std::string& name,
                  const char* type,
                  std::optional<std::string>& value,
                  const std::string& description) {
    app_.add_option_function<std::string>(
            name, [&value](const std::string& text) { value = text; }, description)
        ->type_name(type);
  }

 private:
  CLI::App& app_;
};

}  // namespace

std::optional<options> parse_command_line(int argc, const char* const* argv, std::string& text) {
  typed_values typed;
  CLI::App app(std::string(help_summary), "pave-replay");
  app.get_formatter()->column_width(28);
  app.set_help_flag("--help", "Print this, with the definitions of all metrics");
  app.set_version_flag("--version", version(), "Print the version");

  option_adder add(app);
  add("--trace", "FILE", typed.trace, "Azure LLM inference trace, CSV; default: a synthetic workload");
  add("--seed", "N", typed.seed, "Seed of the synthetic workload, 64 bits; default: 1");
  add("--requests", "N", typed.requests, "The first N requests; default: a whole trace, 2000 synthetic ones");
  add("--rate", "X", typed.rate, "Speed of the arrivals, 0.001 to 1000");
  add("--model", "NAME", typed.model, known_models());
  add("--gpu", "NAME", typed.gpu, known_gpus());
  add("--blocks", "N", typed.blocks, "Blocks of the pool, up to 2^24; default: what fits 80 GiB");
  add("--tokens-per-block", "N", typed.tokens_per_block, "Tokens of one block, up to 65536");
  add("--policies", "LIST", typed.policies, "The policies to compare");
  add("--reserve", "N", typed.reserve, "Blocks that a resumed request leaves free");
  add("--resume-gate", "NAME", typed.resume_gate, "whole_gap or first_chunk");
  add("--slo-tpot-ms", "LIST", typed.slo_tpot_ms, "Bounds on TPOT, 16 at most");
  add("--slo-ttft-ms", "X", typed.slo_ttft_ms, "Bound on TTFT");
  add("--json", "FILE|-", typed.json, "Results as JSON; - is standard output, then without the table");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    text = app.help() + std::string(help_definitions);
    return std::nullopt;
  } catch (const CLI::CallForVersion&) {
    text = version();
    return std::nullopt;
  } catch (const CLI::ParseError& mistake) {
    throw input_error(sentence_for(app, mistake));
  }
  return check(typed);
}

std::string_view policy_name(policy which) noexcept {
  const auto named =
      std::find_if(policies.begin(), policies.end(), [&](const named_policy& one) { return one.which == which; });
  return named->name;
}

}  // namespace replay
