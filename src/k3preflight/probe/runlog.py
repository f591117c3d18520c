"""What the runtimes print about a run, as numbers. Pure: text in, a run out.

Formats: kimi-k3-in-c src/cli/k3_run.c and src/io/k3_trunk.c, Rabbit src/main.rs, llama.cpp's
performance lines, and GNU time -v around any of them. What a log does not say stays null.
"""

import re
from typing import NamedTuple

from k3preflight.models.record import Run, SettingsUsed

GB = 10**9
_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"


class RunLog(NamedTuple):
    """What one log says. `runtime` is the program that wrote it; `preset` as it names it."""

    runtime: str
    run: Run
    settings: SettingsUsed = SettingsUsed()
    preset: str | None = None
    invalid: str | None = None


def read_log(text: str) -> RunLog | None:
    """The last run in `text`, or None where no known runtime's timings are in it."""
    for read in (_kimi, _rabbit, _llama):
        found = read(text)
        if found is not None:
            peak = found.run.peak_rss or _gnu_time_peak(text)
            return found._replace(run=found.run.model_copy(update={"peak_rss": peak}))
    return None


def _kimi(text: str) -> RunLog | None:
    """`8 tokens in 261.5 s, 32.69 s/token average`: the prompt's step is in both figures.

    With --incremental the first step reads the prompt. READ GB of the steps is experts alone; the
    trunk is read besides, and reported once for the run.
    """
    text = _last_run(text, r"^Kimi K3, pure C")
    total = _last(rf"^([0-9]+) tokens in {_NUMBER} s, {_NUMBER} s/token", text)
    if total is None:
        return None
    tokens, seconds, each = int(total[1]), float(total[2]), float(total[3])
    first = _last(rf"^0 +[0-9]+ +{_NUMBER} ", text) if "\nincremental decode:" in text else None
    prompt = _last(r"^ *prompt +: ([0-9]+) tokens", text)
    peak = _last(rf"^PEAK RSS for the whole run: {_NUMBER} ([KMGT]?B)", text)
    experts = _last(rf"experts, whole run: {_NUMBER} GB read", text)
    trunk = _last(rf"^trunk \[final\]\n(?:  .*\n)*?  read {_NUMBER} GB in ", text)
    loaded = [
        float(match[1])
        for pattern in (
            rf"^trunk streaming enabled from .* in {_NUMBER} s$",
            rf"^trunk loaded in {_NUMBER} s",
            rf"^embedding, final norm and lm_head: .* in {_NUMBER} s$",
        )
        if (match := _last(pattern, text))
    ]
    resident = re.search(r"^resident trunk: ", text, re.MULTILINE)  # read once, while loading
    read = (
        _giga(experts) + (_giga(trunk) if trunk else 0) if experts and (trunk or resident) else None
    )
    positions = _last(r"^incremental decode: KV cache .* at ([0-9]+) positions", text)
    preset = _last(r"^ *preset +: ([a-z]+)", text)
    drops = _last(r"^RUN INVALID: (.+)$", text)
    return RunLog(
        "kimi-k3-in-c",
        Run(
            prompt_tokens=int(prompt[1]) if prompt else None,
            tokens=tokens,
            load_seconds=round(sum(loaded), 2) if loaded else None,
            prefill_seconds=float(first[1]) if first else None,
            decode_seconds=seconds,
            seconds_per_token=each or None,
            prefill_included=True,
            peak_rss=_decimal(peak) if peak else None,
            bytes_read=read,
            bytes_read_per_token=read // tokens if read is not None and tokens else None,
        ),
        SettingsUsed(
            context=int(positions[1]) if positions else None,
            cache=_lines(text, r"^ *(preset +: .*|auto budget: .*|expert cache: .*)$"),
        ),
        preset[1] if preset else None,
        drops[1] if drops else None,
    )


def _rabbit(text: str) -> RunLog | None:
    """`40 tokens in 2698.1s`: the whole turn, from which the prefill is taken.

    The first token comes from the prefill itself, so that 40 tokens are 39 steps; a turn that ended
    by itself took, and printed, one more.
    """
    text = _last_run(text, r"^model loaded in ")
    total = _last(rf"^([0-9]+) tokens in {_NUMBER}s\b", text)
    load = _last(rf"^model loaded in {_NUMBER}s", text)
    if total is None:
        return None
    prefill = _last(rf"^ *prefill done in {_NUMBER}s", text)
    prompt = _last(r"^(?:prompt: |prefill \()([0-9]+) tokens", text)
    tokens, seconds = int(total[1]), float(total[2])
    printed = len(re.findall(r"^ *token [0-9]+/[0-9]+ in ", text, re.MULTILINE))
    steps = printed if printed == tokens else tokens - 1
    decode = round(seconds - float(prefill[1]), 2) if prefill else None
    known = decode is not None and decode > 0 and steps > 0
    return RunLog(
        "Rabbit",
        Run(
            prompt_tokens=int(prompt[1]) if prompt else None,
            tokens=tokens,
            load_seconds=float(load[1]) if load else None,
            prefill_seconds=float(prefill[1]) if prefill else None,
            decode_seconds=decode if known else None,
            seconds_per_token=round(decode / steps, 4) if known and decode else None,
            prefill_included=False if known else None,
        ),
        SettingsUsed(cache=_lines(text, r"^ *(expert cache: .*)$")),
    )


# A decimal comma where the runtime runs under a locale that has one.
_MS = r"= *([0-9]+(?:[.,][0-9]+)?) ms"


def _llama(text: str) -> RunLog | None:
    """`eval time = 1025.62 ms / 31 runs`: generation alone; `prompt eval time` is the prefill.

    Its load time ends after the first batch of the prompt. llama-cli prints only two rates, to a
    tenth of a token a second: a rate it rounds to 0.0 says nothing.
    """
    decode = _last(rf"\s\seval time {_MS} / *([0-9]+) (?:runs|tokens)", text)
    rate = _last(r"\[ Prompt: [0-9.]+ t/s \| Generation: ([0-9]+\.[0-9]+) t/s \]", text)
    if decode is None and rate is None:
        return None
    prefill = _last(rf"prompt eval time {_MS} / *([0-9]+) tokens", text)
    load = _last(rf"load time {_MS}", text)
    context = _last(r"\bn_ctx +(?:= *|: *)([0-9]+)", text)
    tokens = seconds = each = None
    if decode:
        seconds, tokens = _milli(decode[1]), int(decode[2])
        each = round(seconds / tokens, 6) if tokens else None
    elif rate and float(rate[1]):
        each = round(1 / float(rate[1]), 3)
    return RunLog(
        "llama.cpp",
        Run(
            prompt_tokens=int(prefill[2]) if prefill else None,
            tokens=tokens,
            load_seconds=_milli(load[1]) if load else None,
            prefill_seconds=_milli(prefill[1]) if prefill else None,
            decode_seconds=seconds,
            seconds_per_token=each or None,
            prefill_included=False if each else None,
        ),
        SettingsUsed(context=int(context[1]) if context else None),
    )


def _gnu_time_peak(text: str) -> int | None:
    match = _last(r"^\s*Maximum resident set size \(kbytes\): ([0-9]+)$", text)
    return int(match[1]) * 1024 if match else None


def _last_run(text: str, start: str) -> str:
    """From the last line that starts a run: figures of two runs are never mixed."""
    starts = [match.start() for match in re.finditer(start, text, re.MULTILINE)]
    return text[starts[-1] :] if starts else text


def _last(pattern: str, text: str) -> re.Match[str] | None:
    found = None
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match
    return found


def _lines(text: str, pattern: str) -> str | None:
    """The lines `pattern` takes, each once, in one."""
    found = (" ".join(match[1].split()) for match in re.finditer(pattern, text, re.MULTILINE))
    return "; ".join(dict.fromkeys(found)) or None


def _decimal(match: re.Match[str]) -> int:
    """Bytes of `8.24 GB`: the runtime divides by 1000."""
    factor: int = 1000 ** ("B", "KB", "MB", "GB", "TB").index(match[2])
    return round(float(match[1]) * factor)


def _giga(match: re.Match[str]) -> int:
    return round(float(match[1]) * GB)


def _milli(text: str) -> float:
    return round(float(text.replace(",", ".")) / 1000, 6)
