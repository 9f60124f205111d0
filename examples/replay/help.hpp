// SPDX-License-Identifier: Apache-2.0
// What --help says besides the options: the purpose, the policies, the definitions of all metrics.
#ifndef PAVE_REPLAY_HELP_HPP
#define PAVE_REPLAY_HELP_HPP

#include <string_view>

namespace replay {

inline constexpr std::string_view help_summary =
    "Replays a trace of LLM requests through a simulated continuous-batching engine, and compares what each\n"
    "policy frees, recomputes and delays when KV blocks run short.\n";

inline constexpr std::string_view help_definitions = R"(
Input
  trace         columns TIMESTAMP,ContextTokens,GeneratedTokens; of a prompt or an output at most 1,000,000 tokens
  synthetic     lengths by inverse transform over quantiles of Azure Conversation 2023, prompt and output
                independently; Poisson arrivals at 5.53/s; --seed does not go with --trace
  rate          0.5 stretches the arrivals to twice their length
  default pool  the tokens whose KV fits beside the weights in 80 GiB, divided by --tokens-per-block

Policies
  whole         whole-request preemption, content forgotten, as vLLM without prefix caching: the last running
                request gives up all its blocks; a requester without victims gives up everything it holds
  partial       pave: exactly the missing blocks go, and exactly they come back
  unlimited     no memory limit, the same 256 sequences
  resume gate   of partial: whole_gap lets a request resume once all that it lost and its next tokens fit,
                first_chunk once its next chunk fits
  reserve       of whole and partial: blocks that have to be available besides, when a stopped request resumes

Engine: 2,048 tokens a step, chunked prefill, 256 sequences, running before waiting, first come first served, no
admission in a step that preempted; a waiting or preempted request enters only when its whole sequence fits.

Metrics (JSON keys)
  preemptions          times that a running request was stopped, self_parked included
  self_parked          of these: the requester itself, since those that it may take from held too little
  refused              requests that can never fit the pool; the rest runs
  blocks_short         blocks missing at a failed grow, counted once, before any cut; a requester that parks itself
                       with nothing to take is counted apart, as self_parked
  blocks_reclaimed     blocks that came free in answer; what a self-parked requester of whole gives up is not among them
  blocks_over_evicted  blocks_reclaimed - blocks_short
  tokens_recomputed    tokens whose KV was computed, given up and computed again
  restores             times that a stopped request ran again
  restore_latency_ms   from the start of the step in which a stopped request runs again to the end of the step that
                       yields its next new token; restores cut again before that are not counted
  tpot_ms              time per output token: (last - first token time) / (tokens - 1), parked time included;
                       requests of one token have none
  ttft_ms              time to first token, from the arrival
  longest_gap_ms       the longest time between two successive tokens of a request of at least two tokens
  slo: attainment      share of the requests whose TPOT is within the bound, among those that have a TPOT and those
                       refused: a refused one misses
  slo: with_ttft       the same share, of those whose TTFT is within --slo-ttft-ms as well
  makespan_s           from the first arrival to the last token
  throughput_tokens_per_s  generated tokens of completed requests / makespan
  wall_s               time that the simulation took: the only figure that differs between equal runs
  percentile p         the smallest value with at least p of the sample at or below it; of an empty sample null

Exit status: 0; 2 for an input that is refused, with one sentence on standard error and nothing on standard output.
)";

}  // namespace replay

#endif
