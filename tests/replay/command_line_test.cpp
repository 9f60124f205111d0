// SPDX-License-Identifier: Apache-2.0
// The program itself: what it prints, and how it refuses what it cannot take.
#include "replay/program.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/temporary_file.hpp"

#include <cstdlib>
#include <regex>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using pave_tests::contains;
using pave_tests::program_outcome;
using pave_tests::refusal;
using pave_tests::run_program;
using pave_tests::temporary_file;
using pave_tests::without_wall_time;

const std::string& header = pave_tests::azure_header;
const std::string& row = pave_tests::azure_row;

}  // namespace

TEST_CASE("pave-replay: numbers out of range are refused in one sentence", "[replay]") {
  struct numeric {
    std::string option;
    std::vector<std::string> bad;
  };
  const std::vector<std::string> never{"''",
                                       "' '",
                                       "-1",
                                       "nan",
                                       "NaN",
                                       "inf",
                                       "-inf",
                                       "infinity",
                                       "abc",
                                       "5x",
                                       "'5 '",
                                       "' 5'",
                                       "+5",
                                       "0x10",
                                       "1,5",
                                       "--",
                                       "99999999999999999999999",
                                       "1e999",
                                       "5-3",
                                       "1.2.3",
                                       "1e",
                                       "-0.5"};
  const std::vector<std::string> never_whole{"1.5", "1e3", "1.0", "5."};
  const std::vector<numeric> options{
      {"--seed", {"18446744073709551616"}},
      {"--requests", {"0", "10000001"}},
      {"--blocks", {"0", "16777217", "2147483648", "4294967297"}},
      {"--tokens-per-block", {"0", "65537"}},
      {"--reserve", {"3915"}},
      {"--rate", {"0", "0.0", "0.0009", "1000.1", "1e-320", "."}},
      {"--slo-ttft-ms", {"0", "1000001", "1e-320"}},
      {"--watermark", {"100.1", "-0"}},
      {"--jobs", {"0", "1025"}},
  };
  for (const numeric& one : options) {
    std::vector<std::string> values = never;
    values.insert(values.end(), one.bad.begin(), one.bad.end());
    if (one.option != "--rate" && one.option != "--slo-ttft-ms" && one.option != "--watermark") {
      values.insert(values.end(), never_whole.begin(), never_whole.end());
    }
    for (const std::string& value : values) {
      const std::string sentence = refusal(one.option + " " + value);
      CAPTURE(one.option, value, sentence);
      CHECK(contains(sentence, one.option + " takes a "));
    }
  }
}

TEST_CASE("pave-replay: lists are refused where an element is", "[replay]") {
  const std::string named =
      "--policies takes a comma list of whole, whole+cache, whole+cache+back, partial, partial+cache, unlimited, not ";
  CHECK(refusal("--policies whole,all") == named + "'all'");
  CHECK(refusal("--policies whole,") == named + "''");
  CHECK(refusal("--policies ''") == named + "''");
  CHECK(refusal("--policies Whole") == named + "'Whole'");
  CHECK(refusal("--policies whole+back") == named + "'whole+back'");
  CHECK(refusal("--policies whole,partial,whole") == "--policies names 'whole' twice");
  for (const std::string& list :
       std::vector<std::string>{"''", "50,", ",50", "50,,60", "50,x", "0", "50,-1", "nan", "inf", "1000001"}) {
    CAPTURE(list);
    CHECK(contains(refusal("--slo-tpot-ms " + list), "--slo-tpot-ms takes a number from 0.001 to 1000000, not '"));
  }
  CHECK(refusal("--slo-tpot-ms 50,60,50.0") == "--slo-tpot-ms names '50.0' twice");
  CHECK(refusal("--slo-tpot-ms 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17") == "--slo-tpot-ms takes 16 bounds at most");
}

TEST_CASE("pave-replay: unknown names are refused with the known ones", "[replay]") {
  CHECK(refusal("--model gpt") ==
        "--model takes one of llama-2-7b, llama-3-8b, llama-2-13b, codellama-34b, llama-2-13b-hybrid, not 'gpt'");
  CHECK(refusal("--gpu v100") == "--gpu takes one of a100, h100, not 'v100'");
  CHECK(refusal("--model llama-3-8b --gpu h100") == "there are no step costs of --model llama-3-8b on --gpu h100");
  CHECK(refusal("--resume-gate none") == "--resume-gate takes whole_gap or first_chunk, not 'none'");
  CHECK(refusal("--victim-order none") ==
        "--victim-order takes least_important, largest, most_slack or cheapest_restore, not 'none'");
  CHECK(refusal("--cut-shape Tail") == "--cut-shape takes tail, head_after_shared or cheapest_range, not 'Tail'");
  for (const std::string& demand : std::vector<std::string>{"none", "ahead", "exact=1", "=3"}) {
    CHECK(refusal("--demand " + demand) ==
          "--demand takes exact, ahead=STEPS or to_watermark=BLOCKS, not '" + demand + "'");
  }
  CHECK(refusal("--demand ahead=0") == "--demand ahead takes a whole number from 1 to 16777216, not '0'");
  CHECK(refusal("--demand to_watermark=x") == "--demand to_watermark takes a whole number from 1 to 16777216, not 'x'");
}

TEST_CASE("pave-replay: an option of the partial policies is refused where none of them is run", "[replay]") {
  for (const std::string& option :
       std::vector<std::string>{"--resume-gate first_chunk", "--victim-order largest", "--cut-shape cheapest_range",
                                "--demand ahead=2", "--demand to_watermark=4"}) {
    CHECK(refusal("--policies whole,unlimited " + option) ==
          option.substr(0, option.find(' ')) + " belongs to the partial policies, and --policies names none of them");
  }
}

TEST_CASE("pave-replay: plans that a hybrid model has no use for are refused", "[replay]") {
  CHECK(refusal("--model llama-2-13b-hybrid --find-running") ==
        "--find-running belongs to models with one KV group, and llama-2-13b-hybrid has two");
  for (const std::string& option :
       std::vector<std::string>{"--victim-order largest", "--cut-shape cheapest_range", "--demand ahead=2"}) {
    CHECK(
        refusal("--model llama-2-13b-hybrid " + option) ==
        "--victim-order, --cut-shape and --demand belong to models with one KV group, and llama-2-13b-hybrid has two");
  }
}

TEST_CASE("pave-replay: what is no option, or an option in the wrong place, is refused", "[replay]") {
  CHECK(refusal("--frobnicate") == "unexpected argument '--frobnicate'; --help lists the options");
  CHECK(refusal("--frobnicate=3") == "unexpected argument '--frobnicate=3'; --help lists the options");
  CHECK(refusal("-x") == "unexpected argument '-x'; --help lists the options");
  CHECK(refusal("trace.csv") == "unexpected argument 'trace.csv'; --help lists the options");
  CHECK(refusal("--seed 1 2") == "unexpected argument '2'; --help lists the options");
  CHECK(refusal("''") == "unexpected argument ''; --help lists the options");
  CHECK(refusal("\"$(printf 'two\\nlines')\"") == "unexpected argument 'two?lines'; --help lists the options");
  CHECK(refusal("--seed 1 --seed 2") == "--seed is given more than once");
  CHECK(refusal("--rate=1 --rate=1") == "--rate is given more than once");
  CHECK(refusal("--json - --json -") == "--json is given more than once");
  CHECK(refusal("--curves --curves --json -") == "--curves is given more than once");
  CHECK(refusal("--curves=3 --json -") == "--curves takes no value");
  CHECK(refusal("--trace a --trace b --rate") == "--rate needs a value");
  CHECK(refusal("--trace a b") == "unexpected argument 'b'; --help lists the options");
  for (const std::string& option :
       std::vector<std::string>{"--trace",     "--seed",        "--requests",         "--rate",      "--model",
                                "--gpu",       "--blocks",      "--tokens-per-block", "--policies",  "--reserve",
                                "--watermark", "--resume-gate", "--victim-order",     "--cut-shape", "--demand",
                                "--sweep",     "--slo-tpot-ms", "--slo-ttft-ms",      "--json",      "--jobs"}) {
    CHECK(refusal(option) == option + " needs a value");
  }
  CHECK(contains(refusal("--trace ''"), "--trace takes the name of a file"));
  CHECK(contains(refusal("--json ''"), "--json takes the name of a file or -"));
  CHECK(refusal("--curves") == "--curves adds to the JSON and needs --json");
}

TEST_CASE("pave-replay: a bad trace is refused with its file and line", "[replay]") {
  const auto sentence_for = [](const std::string& text) {
    const temporary_file trace(text);
    const std::string sentence = refusal("--trace '" + trace.path() + "'");
    const bool named = sentence.compare(0, trace.path().size(), trace.path()) == 0;
    return named ? sentence.substr(trace.path().size()) : sentence;
  };
  CHECK(contains(refusal("--trace /nonexistent.csv"), "/nonexistent.csv cannot be read: "));
  CHECK(contains(refusal("--trace /"), "/ cannot be read: "));
  CHECK(sentence_for("") == " holds no requests: it is empty");
  CHECK(sentence_for(header) == " holds no requests");
  CHECK(contains(sentence_for(row), ", line 1: the header is not"));
  CHECK(contains(sentence_for(header + row + "nonsense\n"), ", line 3: "));
  CHECK(
      contains(sentence_for(header + row + "2023-11-16 18:15:45,374,44\n"), ", line 3: the timestamp goes backwards"));
  CHECK(contains(sentence_for(header + row + "2023-11-16 18:15:47,0,44\n"), ", line 3: ContextTokens"));
  CHECK(contains(sentence_for(header + row + "2023-11-16 18:15:47,374,0\n"), ", line 3: GeneratedTokens"));
}

TEST_CASE("pave-replay: a trace that is named twice is refused, by whatever name", "[replay]") {
  const temporary_file trace(header + row);
  const std::string once = "--trace '" + trace.path() + "'";
  const std::string folder = trace.path().substr(0, trace.path().rfind('/'));
  const std::string detour = folder + "/." + trace.path().substr(folder.size());
  CHECK(refusal(once + " " + once) == "--trace names '" + trace.path() + "' twice");
  CHECK(refusal(once + " --trace '" + detour + "'") == "--trace names '" + detour + "' twice");
  CHECK(refusal("--trace absent --trace absent") == "--trace names 'absent' twice");
}

TEST_CASE("pave-replay: none of the traces is overwritten by the JSON", "[replay]") {
  const temporary_file first(header + row);
  const temporary_file second(header + row);
  const std::string arguments = "--trace '" + first.path() + "' --trace '" + second.path() + "'";
  CHECK(refusal(arguments + " --json '" + second.path() + "'") == "--json would overwrite the trace " + second.path());
  CHECK(second.read() == header + row);
}

TEST_CASE("pave-replay: a seed for a trace is refused", "[replay]") {
  const temporary_file trace(header + row);
  CHECK(refusal("--seed 1 --trace '" + trace.path() + "'") ==
        "--seed belongs to the synthetic workload and does not go with --trace");
}

TEST_CASE("pave-replay: a pool in which no request fits is refused, unless it is not used", "[replay]") {
  // The last token is never fed back: 373 + 44 - 1 tokens are 26 blocks of 16.
  const temporary_file trace(header + "2023-11-16 18:15:46.6805900,373,44\n");
  const std::string arguments = "--trace '" + trace.path() + "' --json -";
  CHECK(refusal(arguments + " --blocks 25") ==
        "no request fits the pool of 25 blocks of 16 tokens: the smallest needs 26");
  CHECK(run_program(arguments + " --blocks 26").status == 0);
  CHECK(run_program(arguments + " --blocks 25 --policies unlimited").status == 0);
  const temporary_file small(header + "2023-11-16 18:15:46.6805900,3,4\n");
  CHECK(refusal("--trace '" + small.path() + "' " + arguments + " --blocks 25") ==
        "no request of " + trace.path() + " fits the pool of 25 blocks of 16 tokens: the smallest needs 26");
  const std::string hybrid = arguments + " --model llama-2-13b-hybrid";
  CHECK(refusal(hybrid + " --blocks 25") ==
        "no request fits the pools of 25 and 25 blocks of 16 tokens: the smallest needs 26");
  CHECK(run_program(hybrid + " --blocks 26").status == 0);
  // 30 blocks of the smaller one fit the full-attention layers' pool, and not that of the others.
  const temporary_file both(header + "2023-11-16 18:15:46.6805900,480,1\n2023-11-16 18:15:46.6805900,4800,1\n");
  CHECK(refusal("--trace '" + both.path() + "' --model llama-2-13b-hybrid --blocks 40") ==
        "no request fits the pools of 85 and 25 blocks of 16 tokens: the smallest needs 30");
  CHECK(refusal("--tokens-per-block 65536") == "the GPU holds the KV of 62634 tokens, less than one block of 65536");
}

TEST_CASE("pave-replay: where only some requests never fit, they are counted and the rest runs", "[replay]") {
  const temporary_file trace(header + row + "2023-11-16 18:15:47,4000,44\n2023-11-16 18:15:48,100,2\n");
  const program_outcome got = run_program("--trace '" + trace.path() + "' --json - --blocks 27 --policies partial");
  CHECK(got.status == 0);
  CHECK(contains(got.out, "\"refused\": 1"));
  CHECK(contains(got.out, "\"attainment\": 0.6666666666666666"));
}

TEST_CASE("pave-replay: a file that cannot be written is refused before the run, and keeps what it holds", "[replay]") {
  CHECK(contains(refusal("--json /nonexistent/out.json"), "/nonexistent/out.json cannot be written: "));
  CHECK(contains(refusal("--json /"), "/ cannot be written: "));
  const temporary_file json("precious");
  CHECK(contains(refusal("--blocks 1 --json '" + json.path() + "'"), "no request fits"));
  CHECK(json.read() == "precious");
}

TEST_CASE("pave-replay: output that gets lost is an error", "[replay]") {
  if (access("/dev/full", W_OK) != 0) {
    WARN("skipped: there is no /dev/full");
    return;
  }
  for (const std::string& arguments :
       std::vector<std::string>{"--requests 5", "--requests 5 --json -", "--help", "--version"}) {
    const temporary_file err;
    const std::string command = "'" PAVE_REPLAY_BINARY "' " + arguments + " >/dev/full 2>'" + err.path() + "'";
    const int status = std::system(command.c_str());
    CAPTURE(arguments);
    CHECK(WEXITSTATUS(status) == 2);
    CHECK(contains(err.read(), "pave-replay: standard output cannot be written: "));
  }
  CHECK(contains(refusal("--requests 5 --json /dev/full"), "/dev/full cannot be written: "));
}

TEST_CASE("pave-replay: with --json - standard output is one JSON object, and nothing else is printed", "[replay]") {
  const program_outcome got = run_program("--json - --requests 50");
  CHECK(got.status == 0);
  CHECK(got.err.empty());
  REQUIRE(got.out.size() > 4);
  CHECK(got.out.substr(0, 2) == "{\n");
  CHECK(got.out.substr(got.out.size() - 3) == "\n}\n");
  CHECK(contains(got.out, "\"trace\": \"synthetic (seed 1)\""));
  CHECK(contains(got.out, "\"requests\": 50,"));
  CHECK(contains(got.out, "\"pool_blocks\": 3914,"));
}

TEST_CASE("pave-replay: with --json FILE the table is printed as well", "[replay]") {
  const temporary_file json("what was there, longer than nothing");
  const program_outcome got = run_program("--requests 50 --json '" + json.path() + "'");
  CHECK(got.status == 0);
  CHECK(got.err.empty());
  CHECK(got.out == run_program("--requests 50").out);
  CHECK(contains(got.out, "partial / whole"));
  CHECK(without_wall_time(json.read()) == without_wall_time(run_program("--requests 50 --json -").out));
}

TEST_CASE("pave-replay: policies run in the order in which they are named", "[replay]") {
  const std::string json = run_program("--requests 20 --json - --policies unlimited,whole").out;
  const auto first = json.find("\"policy\": \"unlimited\"");
  const auto second = json.find("\"policy\": \"whole\"");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  CHECK(first < second);
  CHECK_FALSE(contains(json, "\"policy\": \"partial\""));
}

TEST_CASE("pave-replay: half the rate stretches the arrivals to twice their length", "[replay]") {
  const temporary_file trace(header + row + "2023-11-16 18:15:56.6805900,374,44\n");
  const auto makespan = [&](const std::string& rate) {
    const std::string json =
        run_program("--trace '" + trace.path() + "' --json - --policies partial --rate " + rate).out;
    std::smatch found;
    REQUIRE(std::regex_search(json, found, std::regex("\"makespan_s\": ([0-9.]+)")));
    return std::stod(found[1].str());
  };
  // The second request arrives when the first has ended, so only its arrival moves.
  CHECK(makespan("0.5") - makespan("1") == Approx(10));
  CHECK(makespan("1") - makespan("2") == Approx(5));
}

TEST_CASE("pave-replay: values at their limits are accepted", "[replay]") {
  for (const std::string& arguments :
       std::vector<std::string>{"--seed 0",
                                "--seed 18446744073709551615",
                                "--rate 0.001",
                                "--rate 1000",
                                "--rate .5",
                                "--rate 1e0",
                                "--rate=0.5",
                                "--reserve 3914",
                                "--slo-ttft-ms 0.001",
                                "--watermark 100",
                                "--watermark 0.001",
                                "--jobs 1",
                                "--jobs 1024",
                                "--slo-tpot-ms 0.5",
                                "--model CodeLlama-34B --gpu H100",
                                "--tokens-per-block 1",
                                "--tokens-per-block 65536 --blocks 1",
                                "--resume-gate first_chunk",
                                "--victim-order largest",
                                "--victim-order most_slack --cut-shape cheapest_range",
                                "--victim-order cheapest_restore --cut-shape head_after_shared",
                                "--demand ahead=1",
                                "--demand to_watermark=16777216"}) {
    const program_outcome got = run_program("--requests 3 " + arguments);
    CAPTURE(arguments, got.err);
    CHECK(got.status == 0);
    CHECK(got.err.empty());
    CHECK_FALSE(got.out.empty());
  }
}

TEST_CASE("pave-replay: the same input gives the same output, wall time apart", "[replay]") {
  const std::string arguments = "--requests 300 --blocks 800 --seed 5";
  const program_outcome table = run_program(arguments);
  CHECK(table.status == 0);
  CHECK(table.out == run_program(arguments).out);
  const program_outcome json = run_program(arguments + " --json -");
  CHECK(json.status == 0);
  CHECK(without_wall_time(json.out) == without_wall_time(run_program(arguments + " --json -").out));
}

TEST_CASE("pave-replay: --help defines every metric, --version tells the version", "[replay]") {
  const program_outcome help = run_program("--help");
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  for (const std::string& word : std::vector<std::string>{"--trace",
                                                          "--seed",
                                                          "--requests",
                                                          "--rate",
                                                          "--model",
                                                          "--gpu",
                                                          "--blocks",
                                                          "--tokens-per-block",
                                                          "--policies",
                                                          "--reserve",
                                                          "--resume-gate",
                                                          "--victim-order",
                                                          "--cut-shape",
                                                          "--demand",
                                                          "--slo-tpot-ms",
                                                          "--slo-ttft-ms",
                                                          "--json",
                                                          "--watermark",
                                                          "--sweep",
                                                          "--curves",
                                                          "--jobs",
                                                          "--help",
                                                          "--version",
                                                          "preemptions",
                                                          "self_parked",
                                                          "refused",
                                                          "blocks_short",
                                                          "blocks_reclaimed",
                                                          "blocks_over_evicted",
                                                          "tokens_recomputed",
                                                          "tokens_revived",
                                                          "tokens_cached",
                                                          "restores",
                                                          "restores_from_prefix",
                                                          "restore_latency_ms",
                                                          "tpot_ms",
                                                          "ttft_ms",
                                                          "longest_gap_ms",
                                                          "attainment",
                                                          "with_ttft",
                                                          "makespan_s",
                                                          "throughput_tokens_per_s",
                                                          "wall_s",
                                                          "percentile",
                                                          "reserve_blocks",
                                                          "watermark_percent",
                                                          "watermark_blocks",
                                                          "points",
                                                          "timeline",
                                                          "tpot_percentiles_ms",
                                                          "TIMESTAMP,ContextTokens,GeneratedTokens",
                                                          "hash_ids",
                                                          "  whole ",
                                                          "  whole+cache ",
                                                          "  whole+cache+back ",
                                                          "  partial ",
                                                          "  partial+cache ",
                                                          "  unlimited "}) {
    CAPTURE(word);
    CHECK(contains(help.out, word));
  }
  const program_outcome version = run_program("--version");
  CHECK(version.status == 0);
  CHECK(std::regex_match(version.out, std::regex("pave-replay [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}

TEST_CASE("pave-replay: a real trace is taken with its own line ends", "[replay]") {
  const auto path = pave_tests::data_file("AzureLLMInferenceTrace_conv.csv");
  if (!path) {
    WARN("skipped: PAVE_DATA_DIR holds no AzureLLMInferenceTrace_conv.csv");
    return;
  }
  const program_outcome got = run_program("--requests 100 --trace '" + *path + "' --json - --policies unlimited");
  CHECK(got.status == 0);
  CHECK(contains(got.out, "\"requests\": 100,"));
}
