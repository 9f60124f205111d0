// expect: pave: tokens are hashed by their integer ids
// SPDX-License-Identifier: Apache-2.0
// Tokens that are no integers are refused, in one line.
#include <pave/pave.hpp>

#include <vector>

pave::block_hash refused(const std::vector<float>& tokens) { return pave::block_hasher()({}, tokens); }
