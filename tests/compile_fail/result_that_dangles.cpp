// expect: delete
// SPDX-License-Identifier: Apache-2.0
// A reference into a result that nobody can move from, and that is about to go, is refused.
#include <pave/pave.hpp>

const pave::result<int> made();
int first() { return *made(); }
