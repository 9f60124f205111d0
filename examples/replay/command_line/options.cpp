// SPDX-License-Identifier: Apache-2.0
// CLI11 finds the options; their values are taken as text, to be checked elsewhere.
#include "command_line/options.hpp"

#include "command_line/help.hpp"
#include "command_line/policy_names.hpp"
#include "command_line/typed_values.hpp"
#include "traces/trace.hpp"

#include <pave/config.hpp>

#include <CLI/CLI.hpp>

namespace replay {

namespace {

/// CLI11's mistake in one sentence of ours.
std::string sentence_for(const CLI::App& app, const CLI::ParseError& mistake) {
  const std::vector<std::string> unexpected = app.remaining();
  if (!unexpected.empty()) return "unexpected argument '" + unexpected.front() + "'; --help lists the options";
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 1) return option->get_name() + " is given more than once";
  }
  const std::string words = mistake.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&mistake) != nullptr) {
    const std::size_t overridden = words.find(" was given a disallowed flag override");
    if (overridden != std::string::npos) {
      const std::string name = words.substr(0, overridden);
      return "--" + name.substr(name.find_first_not_of('-')) + " takes no value";
    }
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
                  const std::string& description,
                  const char* default_text = "") {
    const auto take = [&value](const std::string& text) { value = text; };
    app_.add_option_function<std::string>(name, take, description)->type_name(type)->default_str(default_text);
  }

  /// One value each time that the option is given; CLI11's own lists would take a list after one name apart.
  void operator()(const std::string& name,
                  const char* type,
                  std::vector<std::string>& values,
                  const std::string& description) {
    const auto take = [&values](const std::string& text) { values.push_back(text); };
    app_.add_option_function<std::string>(name, take, description)->type_name(type)->trigger_on_parse();
  }

  void operator()(const std::string& name, bool& value, const std::string& description) {
    app_.add_flag(name, value, description)
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
        ->disable_flag_override();
  }

 private:
  CLI::App& app_;
};

}  // namespace

std::optional<options> parse_command_line(int argc, const char* const* argv, std::string& text) {
  typed_values typed;
  typed.policies = known_policies(",");
  CLI::App app(std::string(help_summary), "pave-replay");
  app.get_formatter()->column_width(28);
  app.set_help_flag("--help", "Print this, with the definitions of all metrics");
  app.set_version_flag("--version", version(), "Print the version");

  option_adder add(app);
  add("--trace", "FILE", typed.traces, "A trace, Azure CSV or Mooncake JSONL; may be repeated; default: synthetic");
  add("--seed", "N", typed.seed, "Seed of the synthetic workload, 64 bits; default: 1");
  add("--requests", "N", typed.requests, "The first N of each trace; default: all of it, 2000 synthetic ones");
  add("--rate", "X", typed.rate, "Speed of the arrivals, 0.001 to 1000", default_rate);
  add("--model", "NAME", typed.model, known_models());
  add("--gpu", "NAME", typed.gpu, known_gpus());
  add("--blocks", "N", typed.blocks, "Blocks of the pool, up to 2^24; default: what fits 80 GiB");
  add("--tokens-per-block", "N", typed.tokens_per_block, "Tokens of one block, up to 65536");
  add("--policies", "LIST", typed.policies, "The policies to compare");
  add("--reserve", "N", typed.reserve, "Blocks that a resumed request leaves free", default_reserve);
  add("--watermark", "PERCENT", typed.watermark, "Share of the blocks that any request that comes in leaves free",
      default_watermark);
  add("--resume-gate", "NAME", typed.resume_gate, "whole_gap or first_chunk");
  add("--victim-order", "NAME", typed.victim_order, "least_important, largest, most_slack or cheapest_restore");
  add("--cut-shape", "NAME", typed.cut_shape, "tail, head_after_shared or cheapest_range");
  add("--demand", "NAME", typed.demand, "exact, ahead=STEPS or to_watermark=BLOCKS");
  add("--find-running", typed.find_running,
      "Requests find the prefixes of those that run, under policies without a cache, too");
  add("--sweep", "NAME=VALUES", typed.sweeps, "Values of rate, blocks, reserve or watermark; may be repeated");
  add("--slo-tpot-ms", "LIST", typed.slo_tpot_ms, "Bounds on TPOT, 16 at most");
  add("--slo-ttft-ms", "X", typed.slo_ttft_ms, "Bound on TTFT");
  add("--json", "FILE|-", typed.json, "Results as JSON; - is standard output, then without the table");
  add("--curves", typed.curves, "Adds to the JSON how each run went over time, and all percentiles of TPOT");
  add("--jobs", "N", typed.jobs, "Runs at the same time, up to 1024; default: one for each core");

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

}  // namespace replay
