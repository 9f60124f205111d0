// expect: pave: a victim_index keeps candidates in an order, and cheapest_restore has none: plan without it
// SPDX-License-Identifier: Apache-2.0
// An index for plans that go by their price is refused: there is no order to keep.
#include <pave/pave.hpp>

pave::victim_index<pave::rank, pave::cheapest_restore> index;
