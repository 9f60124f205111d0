// SPDX-License-Identifier: Apache-2.0
// What --help says besides the options: the purpose, the policies, the definitions of all metrics.
#ifndef PAVE_REPLAY_HELP_HPP
#define PAVE_REPLAY_HELP_HPP

#include <string_view>

namespace replay {

inline constexpr std::string_view help_summary =
    "Replays traces of LLM requests through a simulated continuous-batching engine, and compares what each\n"
    "policy frees, recomputes and delays when KV blocks run short.\n";

inline constexpr std::string_view help_definitions = R"(
Input
  trace         one of two formats, told apart by what the file holds:
                Azure CSV: columns TIMESTAMP,ContextTokens,GeneratedTokens
                Mooncake JSONL: an object a line with timestamp, input_length, output_length, hash_ids; the timestamps
                are milliseconds, and equal hash_ids are equal prefixes, by 512 tokens; where no line has hash_ids,
                nothing is shared
                of a prompt or an output at most 1,000,000 tokens; several traces are replayed one by one
  synthetic     lengths by inverse transform over quantiles of Azure Conversation 2023, prompt and output
                independently; Poisson arrivals at 5.53/s; --seed does not go with --trace
  rate          0.5 stretches the arrivals to twice their length
  default pool  the tokens whose KV fits beside the weights in 80 GiB, divided by --tokens-per-block

Policies
  whole             whole-request preemption, content forgotten, as vLLM without prefix caching: the last running
                    request gives up all its blocks; a requester without victims gives up everything it holds
  whole+cache       the same, as vLLM by default: content is kept until its block is reused, and found again when the
                    request resumes. Partly filled blocks are reused first; full ones last, in the order of their
                    release, of one sequence its tail first. Blocks of finished requests are in the same queue
  whole+cache+back  the same with two rules of SGLang's: those with the fewest output tokens are the victims, and the
                    preempted go to the back of the queue
  partial           pave: exactly the missing blocks go, and exactly they come back
  partial+cache     pave, with content kept until its block is reused
  unlimited         no memory limit, the same 256 sequences
  resume gate       of the partial ones: whole_gap lets a request resume once all that it lost and its next tokens fit,
                    first_chunk once its next chunk fits
  victim order      of the partial ones, within the rank and parked ones first: least_important, largest, most_slack
                    (the least time per token so far), or cheapest_restore, which chooses all victims of a plan together
  cut shape         of the partial ones: tail, or from the inside, with a gap that comes back below kept tokens:
                    head_after_shared, cheapest_range
  demand            of the partial ones: exact; ahead=STEPS, what those that run need in so many steps more;
                    to_watermark=BLOCKS, so many more
  reserve           blocks that have to be available besides, when a stopped request resumes; not of unlimited, and of
                    whole+cache+back neither, whose preempted come in as new ones
  watermark         of all but unlimited, as in vLLM: blocks that every request that comes in, new or preempted, leaves
                    available, unless nothing runs; floor(percent / 100 * blocks of the pool)

Engine: 2,048 tokens a step, chunked prefill, 256 sequences, running before waiting, first come first served, no
admission in a step that preempted; a waiting or preempted request enters only when its whole sequence fits.

Sweeps
  --sweep NAME=FIRST:LAST:STEP  rate, blocks, reserve or watermark at FIRST, FIRST + STEP and so on, as far as LAST
  --sweep NAME=A,B,C            at these values
                                rate=0.3:1:0.1 is 0.3, 0.4 and so on, as if each had been typed for --rate; several
                                sweeps are every combination, the last one changing fastest; 4096 points at most
  Every policy runs on every trace at every point, as many runs at a time as --jobs says; the results do not depend on
  it. They are one table, and in the JSON {"points": [...]}, each of which is what one trace at one point gives alone.

Settings (JSON keys): trace, requests, rate, model, gpu, pool_blocks, tokens_per_block, reserve_blocks,
watermark_percent, watermark_blocks, victim_order, cut_shape, demand, find_running, and the runs, one for each
policy; of a hybrid model full_blocks and window_blocks, the sizes of its two pools

Metrics (JSON keys of a run)
  preemptions          times that a running request was stopped, self_parked included
  self_parked          of these: the requester itself, since those that it may take from held too little
  refused              requests that can never fit the pool; the rest runs
  blocks_short         blocks missing at a failed grow, counted once, before any cut; a requester that parks itself
                       with nothing to take is counted apart, as self_parked. Of a hybrid model this and the next two
                       are in blocks of its full-attention layers: one of the others counts as three, as it is as large
  blocks_reclaimed     blocks that came free in answer; what a self-parked requester of whole gives up is not among them
  blocks_over_evicted  blocks_reclaimed - blocks_short
  tokens_recomputed    tokens whose KV was computed, given up, not found again and computed again
  tokens_revived       tokens whose KV was given up and found again, since their blocks had not been reused
  tokens_cached        prompt tokens found in blocks of other requests before this request ever computed them; only of
                       traces with prefix hashes
  restores             times that a stopped request ran again
  restores_from_prefix  of these: the request had kept its first tokens, at least some; what it found again is not kept
  restore_latency_ms   from the start of the step in which a stopped request runs again to the end of the step that
                       yields its next new token, the rest of its prompt included where it was stopped before its end;
                       restores cut again before that are not counted
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

With --curves a run has also
  timeline             the state at up to 400 times, evenly from the first arrival to the last step: time_s,
                       held_blocks (blocks that belong to a request; of a hybrid model their memory, in blocks of all
                       layers), parked (requests that ran, were stopped and wait)
  tpot_percentiles_ms  101 values: the smallest TPOT, then the percentiles 1 to 100

Exit status: 0; 2 for an input that is refused, with one sentence on standard error and nothing on standard output.
)";

}  // namespace replay

#endif
