// expect: pave: a block id needs an integer type
// SPDX-License-Identifier: Apache-2.0
// An id that is a truth is refused, and told what it needs.
#include <pave/pave.hpp>

pave::basic_block_id<bool> truth;
