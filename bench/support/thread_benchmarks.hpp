// SPDX-License-Identifier: Apache-2.0
// The benchmarks of pools that several threads share, for the program that runs them all.
#ifndef PAVE_BENCH_SUPPORT_THREAD_BENCHMARKS_HPP
#define PAVE_BENCH_SUPPORT_THREAD_BENCHMARKS_HPP

namespace bench {

/// Registers the pattern "churn" for one thread and for two that share a pool.
void add_thread_benchmarks();

}  // namespace bench

#endif
