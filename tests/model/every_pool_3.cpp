// SPDX-License-Identifier: Apache-2.0
// A part of all pools.
#include "model/every_pool.hpp"

template void pave_tests::add_pools<3>(std::vector<pool_maker>& makers);
