// SPDX-License-Identifier: Apache-2.0
// What a step of a continuous-batching engine costs: fitted coefficients by model and GPU, and their sum over a step.
#ifndef PAVE_REPLAY_COST_MODEL_HPP
#define PAVE_REPLAY_COST_MODEL_HPP

#include <cstdint>
#include <string>
#include <string_view>

namespace replay {

/// Milliseconds of one step on one GPU.
/// A prefill of n new tokens behind `cached` ones: a + b·n + c₂·n·c, where c = cached + (n + 1) / 2 is the mean
/// context. A decode of B sequences whose contexts sum to S: a + b·B + c₂·S. Of a hybrid model contexts are means over
/// its layers of what each attends to.
struct step_costs {
  double prefill_base;       ///< a
  double prefill_per_token;  ///< b
  double prefill_attention;  ///< c₂
  double decode_base;
  double decode_per_sequence;
  double decode_attention;
  std::int64_t kv_bytes_per_token;
  std::int64_t kv_tokens;  ///< tokens whose KV fits beside the weights in 80 GiB
  // Of a hybrid model: only some layers attend to all of the context, the others to the last `window` tokens.
  std::int64_t full_layers = 0;
  std::int64_t window_layers = 0;
  std::int64_t window = 0;

  [[nodiscard]] bool is_hybrid() const noexcept { return window > 0; }
  /// Tokens of a context that a layer attends to, on average over the layers.
  [[nodiscard]] double attended(double context) const noexcept { return attended(context, context); }
  /// The same, where of a context those in the window are known.
  [[nodiscard]] double attended(double context, double in_window) const noexcept {
    if (!is_hybrid()) return context;
    const auto full = static_cast<double>(full_layers);
    const auto windowed = static_cast<double>(window_layers);
    const double recent = in_window < static_cast<double>(window) ? in_window : static_cast<double>(window);
    return (full * context + windowed * recent) / (full + windowed);
  }
};

/// The figures of one model on one GPU, with the names as the command line has them.
struct fitted_costs {
  std::string_view model;
  std::string_view gpu;
  step_costs costs;
};

/// @return null where there are no figures; the case of the names does not matter
const fitted_costs* find_costs(std::string_view model, std::string_view gpu) noexcept;

bool is_known_model(std::string_view model) noexcept;
bool is_known_gpu(std::string_view gpu) noexcept;

/// The names for a sentence: "llama-2-7b, llama-3-8b, …".
std::string known_models();
std::string known_gpus();

/// @brief Adds up one step.
/// A step that holds a decode reads the weights for it, so its prefill chunks pay b·n + c₂·n·c and no base;
/// a step of prefills alone pays the base once.
class step_time {
 public:
  explicit step_time(const step_costs& costs) noexcept : costs_(costs) {}

  /// @param context tokens that the one new token of the sequence attends to
  void add_decode(std::int64_t context) noexcept {
    ++sequences_;
    contexts_ += costs_.attended(static_cast<double>(context));
  }

  /// @param new_tokens of one chunk
  /// @param cached tokens before them whose KV is there
  void add_prefill(std::int64_t new_tokens, std::int64_t cached) noexcept {
    const double tokens = static_cast<double>(new_tokens);
    const double context = static_cast<double>(cached) + (tokens + 1) / 2;
    const double attended = costs_.attended(context, mean_in_window(new_tokens, cached));
    prefill_ += costs_.prefill_per_token * tokens + costs_.prefill_attention * tokens * attended;
    prefills_ = true;
  }

  /// @return 0 for a step that holds nothing
  double milliseconds() const noexcept {
    if (sequences_ == 0) return prefills_ ? costs_.prefill_base + prefill_ : 0;
    return costs_.decode_base + costs_.decode_per_sequence * static_cast<double>(sequences_) +
           costs_.decode_attention * contexts_ + prefill_;
  }

 private:
  /// Of the contexts of the new tokens, cached + 1 … cached + new_tokens: what lies in the window, on average.
  [[nodiscard]] double mean_in_window(std::int64_t new_tokens, std::int64_t cached) const noexcept {
    const std::int64_t room = costs_.window - cached;  // so many tokens have a context that fits
    const std::int64_t growing = room < 0 ? 0 : room < new_tokens ? room : new_tokens;
    const double sum =
        static_cast<double>(growing) * (static_cast<double>(cached) + static_cast<double>(growing + 1) / 2) +
        static_cast<double>(new_tokens - growing) * static_cast<double>(costs_.window);
    return sum / static_cast<double>(new_tokens);
  }

  const step_costs& costs_;
  std::int64_t sequences_ = 0;
  double contexts_ = 0;
  double prefill_ = 0;
  bool prefills_ = false;
};

}  // namespace replay

#endif
