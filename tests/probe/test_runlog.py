"""What the runtimes print, read as numbers: their own formats with their published figures."""

from pathlib import Path

import pytest

from k3preflight.models.record import Run
from k3preflight.probe.runlog import RunLog, read_log

RUNS = Path(__file__).parents[1] / "data" / "runs"


def read(name: str) -> str:
    return (RUNS / f"{name}.txt").read_text()


def log(text: str) -> RunLog:
    found = read_log(text)
    assert found is not None
    return found


def test_kimi_k3_in_c() -> None:
    found = log(read("kimi-k3-in-c"))
    assert found.runtime == "kimi-k3-in-c"
    assert found.preset == "laptop"
    assert found.settings.context == 14
    assert found.settings.cache == (
        "preset : laptop (trunk 3.0 GB / expert cache 1.0 GB); "
        "expert cache: 57 slots x 17.55 MB = 1.00 GB (0.07% of the 1.45 TB expert pool)"
    )
    assert found.run == Run(
        prompt_tokens=5,
        tokens=8,
        load_seconds=1.6,
        prefill_seconds=57.02,
        decode_seconds=261.5,
        seconds_per_token=32.69,
        prefill_included=True,
        peak_rss=8_240_000_000,
        bytes_read=1_151_010_000_000,
        bytes_read_per_token=143_876_250_000,
    )


def test_kimi_k3_in_c_with_its_trunk_in_memory_reads_experts_alone() -> None:
    text = read("kimi-k3-in-c").partition("\ntrunk [final]")[0] + "\n"
    assert log(text).run.bytes_read is None  # the trunk's share is not in this log
    resident = text.replace("trunk on disk : ", "resident trunk: ").replace(
        "trunk streaming enabled from /fast/trunk in 0.1 s", "trunk loaded in 30.0 s (3627 MB/s)"
    )
    assert log(resident).run.bytes_read == 280_510_000_000
    assert log(resident).run.load_seconds == 31.5


def test_without_a_kv_cache_no_step_is_the_prefill() -> None:
    text = read("kimi-k3-in-c").replace("\nincremental decode:", "\nno decode:")
    assert log(text).run.prefill_seconds is None
    assert log(text).settings.context is None


def test_rabbit_counts_the_prefill_in_its_total() -> None:
    found = log(read("rabbit"))
    assert found.runtime == "Rabbit"
    assert found.run == Run(
        prompt_tokens=7,
        tokens=40,
        load_seconds=610.0,
        prefill_seconds=412.8,
        decode_seconds=2285.3,
        seconds_per_token=58.5974,  # the published 58.6; 67.45 with the prefill
        prefill_included=False,
    )


def test_a_rabbit_turn_that_ended_by_itself_took_as_many_steps_as_tokens() -> None:
    steps = "".join(f"  token {n + 2}/40 in 10.0s\n" for n in range(3))
    text = f"  prefill done in 5.0s\n{steps}\n3 tokens in 35.0s (0.1 tok/s)\n"
    assert log(text).run.seconds_per_token == 10.0


@pytest.mark.parametrize(
    "text", ["  prefill done in 5.0s\n1 tokens in 5.0s\n", "40 tokens in 2698.1s (0.0 tok/s)\n"]
)
def test_rabbit_without_a_step_or_a_prefill_gives_no_rate(text: str) -> None:
    assert log(text).run.seconds_per_token is None
    assert log(text).run.prefill_included is None


def test_llama_cpp() -> None:
    found = log(read("llama-completion"))
    assert found.runtime == "llama.cpp"
    assert found.settings.context == 16384
    assert found.run == Run(
        prompt_tokens=79,
        tokens=31,
        load_seconds=226.43986,
        prefill_seconds=17.84496,
        decode_seconds=9.6875,
        seconds_per_token=0.3125,
        prefill_included=False,
        peak_rss=552_599_552 * 1024,
    )


def test_llama_cpp_under_a_locale_with_a_decimal_comma() -> None:
    run = log(read("llama-comma")).run
    assert (run.tokens, run.decode_seconds, run.prefill_seconds) == (511, 40.38008, 0.1161)


def test_llama_cli_prints_a_rate_alone() -> None:
    run = log(read("llama-cli")).run
    assert (run.seconds_per_token, run.tokens, run.prefill_included) == (0.154, None, False)
    nothing = log("[ Prompt: 0.1 t/s | Generation: 0.0 t/s ]").run
    assert nothing == Run()


def test_no_eval_at_all_is_no_rate() -> None:
    text = "llama_perf_context_print:        eval time =       0.00 ms /     0 runs   (\n"
    run = log(text).run
    assert (run.tokens, run.seconds_per_token, run.prefill_included) == (0, None, None)


def test_of_several_runs_the_last_counts_and_figures_are_never_mixed() -> None:
    first = read("kimi-k3-in-c")
    second = first.replace("32.69 s/token", "30.00 s/token").replace("laptop", "server")
    assert log(first + second).run.seconds_per_token == 30.0
    assert log(first + second).preset == "server"
    unfinished = second.partition("8 tokens in")[0]
    assert read_log(first + unfinished) is None
    assert read_log(read("rabbit") + "model loaded in 99.0s (93 layers)\n") is None


def test_a_run_the_runtime_calls_invalid_says_so() -> None:
    text = read("kimi-k3-in-c") + "\nRUN INVALID: 3 routed expert load(s) failed\n"
    assert log(text).invalid == "3 routed expert load(s) failed"


def test_a_peak_from_gnu_time_fills_in_what_the_runtime_does_not_print() -> None:
    text = read("rabbit") + "\tMaximum resident set size (kbytes): 44921875\n"
    assert log(text).run.peak_rss == 46_000_000_000
    assert log(read("kimi-k3-in-c") + text[-60:]).run.peak_rss == 8_240_000_000


@pytest.mark.parametrize("text", ["", "8 tokens in the prompt\n", "prompt eval time = 3 ms / 1 x"])
def test_other_text_is_no_run(text: str) -> None:
    assert read_log(text) is None
