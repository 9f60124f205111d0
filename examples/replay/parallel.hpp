// SPDX-License-Identifier: Apache-2.0
// Independent tasks over threads.
#ifndef PAVE_REPLAY_PARALLEL_HPP
#define PAVE_REPLAY_PARALLEL_HPP

#include <cstddef>
#include <functional>

namespace replay {

/// @brief Calls `task(0)`, …, `task(count - 1)`, each once, begun in this order; returns when all have ended.
/// @param jobs threads, the calling one included; fewer where the system gives no more
/// @param task is called by several threads at the same time
/// @error where tasks throw, no further ones begin, and what the first of them (by index, not by time) threw is thrown
void run_parallel(std::size_t count, std::size_t jobs, const std::function<void(std::size_t index)>& task);

}  // namespace replay

#endif
