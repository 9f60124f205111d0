// SPDX-License-Identifier: Apache-2.0
// The table of fitted step costs and the look-up by name.
#include "simulation/cost_model.hpp"

#include <algorithm>
#include <array>

namespace replay {

namespace {

// Least-squares fits to step times from measured kernels: profiling data of microsoft/vidur (MIT; A. Agrawal et al.,
// "Vidur: A Large-Scale Simulation Framework for LLM Inference", MLSys 2024) and the vLLM 0.14.0 performance tables of
// ai-dynamo/aiconfigurator (Apache-2.0). Mean absolute error 1–7 %, largest 18 %; CPU scheduling, sampling and launch
// gaps are left out; the prefill fits hold from 128 new tokens on.
constexpr std::array<fitted_costs, 9> table{{
    {"llama-2-7b", "a100", {4.42, 0.0594, 3.95e-6, 9.79, 0.0210, 3.15e-4, 524'288, 121'746}},
    {"llama-3-8b", "a100", {4.58, 0.0656, 3.83e-6, 10.6, 0.0270, 8.43e-5, 131'072, 467'300}},
    {"llama-2-13b", "a100", {8.61, 0.1129, 5.99e-6, 18.1, 0.0430, 4.94e-4, 819'200, 62'634}},
    {"codellama-34b", "a100", {17.4, 0.2898, 1.13e-5, 45.2, 0.0738, 1.43e-4, 196'608, 50'405}},
    {"llama-2-7b", "h100", {4.33, 0.0191, 1.27e-6, 5.97, 0.0205, 1.62e-4, 524'288, 121'746}},
    {"llama-2-13b", "h100", {6.52, 0.0364, 1.99e-6, 10.7, 0.0223, 2.54e-4, 819'200, 62'634}},
    {"codellama-34b", "h100", {12.7, 0.0950, 3.83e-6, 24.9, 0.0249, 6.51e-5, 196'608, 50'405}},
    // Derived, not measured: Llama-2-13B, of whose 40 layers 30 attend to the last 1,024 tokens only.
    {"llama-2-13b-hybrid", "a100", {8.61, 0.1129, 5.99e-6, 18.1, 0.0430, 4.94e-4, 819'200, 62'634, 10, 30, 1'024}},
    {"llama-2-13b-hybrid", "h100", {6.52, 0.0364, 1.99e-6, 10.7, 0.0223, 2.54e-4, 819'200, 62'634, 10, 30, 1'024}},
}};

char to_lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool same_name(std::string_view one, std::string_view other) noexcept {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](char left, char right) { return to_lower(left) == to_lower(right); });
}

using name_column = std::string_view fitted_costs::*;

/// Each name of one column once, in the order of the table.
std::string list_names(name_column column) {
  std::string names;
  for (auto row = table.begin(); row != table.end(); ++row) {
    const std::string_view name = (*row).*column;
    const auto listed = [&](const fitted_costs& earlier) { return earlier.*column == name; };
    if (std::any_of(table.begin(), row, listed)) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

}  // namespace

const fitted_costs* find_costs(std::string_view model, std::string_view gpu) noexcept {
  for (const fitted_costs& row : table) {
    if (same_name(row.model, model) && same_name(row.gpu, gpu)) return &row;
  }
  return nullptr;
}

bool is_known_model(std::string_view model) noexcept {
  return std::any_of(table.begin(), table.end(), [&](const fitted_costs& row) { return same_name(row.model, model); });
}

bool is_known_gpu(std::string_view gpu) noexcept {
  return std::any_of(table.begin(), table.end(), [&](const fitted_costs& row) { return same_name(row.gpu, gpu); });
}

std::string known_models() { return list_names(&fitted_costs::model); }
std::string known_gpus() { return list_names(&fitted_costs::gpu); }

}  // namespace replay
