// SPDX-License-Identifier: Apache-2.0
// pave-replay: replays a trace of LLM requests under several policies and compares what each frees, recomputes, delays.
#include "engine.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "trace.hpp"
#include "workload.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace replay {

namespace {

std::vector<request> load(const options& chosen) {
  if (chosen.trace) return read_trace(*chosen.trace, chosen.requests.value_or(every_row));
  return synthetic_trace(chosen.requests.value_or(default_requests), chosen.seed);
}

/// Of the requests that do not fit the engine refuses each; a pool that none fits is a mistake.
void check_pool(const options& chosen, const std::vector<request>& requests) {
  const bool limited =
      std::any_of(chosen.policies.begin(), chosen.policies.end(), [](policy one) { return one != policy::unlimited; });
  if (!limited) return;
  const std::int64_t per_block = chosen.engine.tokens_per_block;
  std::int64_t least = (std::numeric_limits<std::int64_t>::max)();
  for (const request& one : requests) {
    // The last token is never an input, so no KV of it is kept.
    least = (std::min)(least, one.prompt_tokens + one.output_tokens - 1);
  }
  const std::int64_t needed = (least + per_block - 1) / per_block;
  if (needed > chosen.engine.pool_blocks) {
    throw input_error("no request fits the pool of " + std::to_string(chosen.engine.pool_blocks) + " blocks of " +
                      std::to_string(per_block) + " tokens: the smallest needs " + std::to_string(needed));
  }
}

run run_policy(policy which, const options& chosen, const std::vector<request>& requests) {
  using clock = std::chrono::steady_clock;
  progress_bar bar(std::string(policy_name(which)), requests.size());
  const clock::time_point start = clock::now();
  const engine_outcome outcome = run_engine(which, requests, 1 / chosen.rate, chosen.engine, chosen.costs->costs,
                                            [&bar](std::size_t ended) { bar.update(ended); });
  const std::chrono::duration<double> elapsed = clock::now() - start;
  return {std::string(policy_name(which)), summarize(outcome, chosen.slo), elapsed.count()};
}

void replay_and_report(const options& chosen) {
  const std::vector<request> requests = load(chosen);
  check_pool(chosen, requests);
  const bool to_file = chosen.json && *chosen.json != "-";
  std::optional<output_file> file;
  if (to_file) {
    std::error_code unknown;
    if (chosen.trace && std::filesystem::equivalent(*chosen.trace, *chosen.json, unknown)) {
      throw input_error("--json would overwrite the trace " + *chosen.trace);
    }
    if (std::filesystem::is_regular_file(*chosen.json, unknown) &&
        std::filesystem::equivalent(*chosen.json, "/dev/stdout", unknown)) {
      throw input_error("--json " + *chosen.json +
                        " is standard output, which the table goes to; --json - is for JSON alone");
    }
    file.emplace(*chosen.json);
  }

  report results;
  results.of.trace = chosen.trace.value_or("synthetic (seed " + std::to_string(chosen.seed) + ")");
  results.of.requests = requests.size();
  results.of.rate = chosen.rate;
  results.of.model = chosen.costs->model;
  results.of.gpu = chosen.costs->gpu;
  results.of.pool_blocks = chosen.engine.pool_blocks;
  results.of.tokens_per_block = chosen.engine.tokens_per_block;
  results.of.kv_bytes_per_token = chosen.costs->costs.kv_bytes_per_token;
  results.slo = chosen.slo;
  for (const policy which : chosen.policies) results.runs.push_back(run_policy(which, chosen, requests));

  if (file) file->write(to_json(results));
  write_standard_output(chosen.json && !to_file ? to_json(results) : to_table(results));
}

/// Control characters of a file name or an argument must not break the one line.
void complain(std::string sentence) {
  std::replace_if(
      sentence.begin(), sentence.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < ' ' || byte == 0x7F; }, '?');
  std::fprintf(stderr, "pave-replay: %s\n", sentence.c_str());
}

}  // namespace

}  // namespace replay

int main(int argc, char** argv) {
  constexpr int refused = 2;
  try {
    std::string text;
    const std::optional<replay::options> chosen = replay::parse_command_line(argc, argv, text);
    if (chosen) {
      replay::replay_and_report(*chosen);
    } else {
      replay::write_standard_output(text);
    }
    return 0;
  } catch (const std::bad_alloc&) {
    replay::complain("the memory does not suffice for so many requests, tokens or blocks");
  } catch (const std::exception& fault) {
    replay::complain(fault.what());
  }
  return refused;
}
