// expect: conversion from
// SPDX-License-Identifier: Apache-2.0
// Tokens do not pass for blocks.
#include <pave/pave.hpp>

pave::block_count blocks_of(pave::token_count tokens) {
  pave::block_count blocks = tokens;
  return blocks;
}
