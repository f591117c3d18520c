"""Platform, CPU, tools, GPU and pooled memory, judged from facts."""

import pytest

from factory import GB, choices, host, report
from k3preflight.assess import assess
from k3preflight.models.host import Host, Unknown
from k3preflight.models.machine import Cpu, Gpu, Memory, System, Tool
from k3preflight.models.names import CheckId, Pool, Status
from k3preflight.models.report import Finding, Policy, Report

GIB = 2**30
WEIGHTS = 594_040_923_616
TOUCHED = 60_957_759_898 + 452_984_832 + 464_633_856
VRAM = Policy(pool=Pool.VRAM)
CARD = Gpu(name="A card", uuid="GPU-1", total=80 * GB, free=79 * GB)


def with_facts(machine: Host | None = None, **facts: object) -> Host:
    return (machine or host()).model_copy(update=facts)


def found(
    machine: Host, scenario: str, check: CheckId, policy: Policy | None = None
) -> tuple[Finding, ...]:
    return report(machine, scenario, policy=policy).assessments[0].of(check)


def platform(scenario: str, system: str | None, machine: str | None, **more: object) -> Finding:
    facts = System.model_validate({"system": system, "machine": machine} | more)
    (finding,) = found(with_facts(system=facts), scenario, CheckId.RUNTIME_PLATFORM)
    return finding


@pytest.mark.parametrize(
    ("scenario", "system", "machine", "status", "words"),
    [
        ("kimi-k3-in-c", "linux", "x86_64", Status.PASS, "published for linux x86_64"),
        ("kimi-k3-in-c", "macos", "x86_64", Status.WARN, "brew install libomp"),
        ("kimi-k3-in-c", "macos", "arm64", Status.FAIL, "not published for macos arm64"),
        ("kimi-k3-in-c", "linux", "arm64", Status.FAIL, "not published for linux arm64"),
        ("kimi-k3-in-c", "windows", "x86_64", Status.FAIL, "but for linux x86_64, macos x86_64"),
        ("rabbit", "linux", "arm64", Status.WARN, "no NEON kernels"),
        ("rabbit", "linux", "riscv64", Status.FAIL, "linux riscv64"),
        ("ud-iq1-s", "macos", "arm64", Status.PASS, "published for macos arm64"),
        ("ud-iq1-s", "freebsd", "x86_64", Status.FAIL, "freebsd"),
    ],
)
def test_platform(scenario: str, system: str, machine: str, status: Status, words: str) -> None:
    finding = platform(scenario, system, machine)
    assert finding.status is status
    assert words in finding.message


@pytest.mark.parametrize(("system", "machine"), [(None, "x86_64"), ("linux", None)])
def test_a_platform_nobody_recorded_is_unknown(system: str | None, machine: str | None) -> None:
    assert platform("rabbit", system, machine).status is Status.UNKNOWN


def test_rosetta_is_seen_through() -> None:
    finding = platform("kimi-k3-in-c", "macos", "arm64", emulated=True)
    assert finding.status is Status.FAIL
    assert "runs translated" in finding.message


@pytest.mark.parametrize(("bits", "status"), [(32, Status.WARN), (64, Status.PASS)])
def test_a_32_bit_interpreter_warns(bits: int, status: Status) -> None:
    assert platform("ud-iq1-s", "linux", "arm64", bits=bits).status is status


def cpu(machine: str = "x86_64", **facts: object) -> Finding:
    box = with_facts(system=System(system="linux", machine=machine), cpu=Cpu.model_validate(facts))
    (finding,) = found(box, "kimi-k3-in-c", CheckId.RUNTIME_CPU)
    return finding


@pytest.mark.parametrize(
    ("flags", "status", "words"),
    [
        (["avx2", "fma"], Status.PASS, "this CPU has avx2 and fma"),
        (["avx2", "fma4"], Status.FAIL, "lacks fma, which"),
        (["avx2x", "afma"], Status.FAIL, "lacks avx2 and fma"),
        ([], Status.FAIL, "lacks avx2 and fma"),
        (None, Status.UNKNOWN, "needs avx2 and fma"),
    ],
)
def test_whole_flags_of_every_core(flags: list[str] | None, status: Status, words: str) -> None:
    finding = cpu(flags=flags)
    assert finding.status is status
    assert words in finding.message


def test_cores_are_named_with_what_decides() -> None:
    finding = cpu(model="Zen", flags=["avx2", "fma"], cores=3, cores_from="/cg/cpu.max")
    assert finding.message == "Zen has avx2 and fma; 3 cores, by /cg/cpu.max"


def test_arm_needs_another_machine_and_not_another_flag() -> None:
    finding = cpu("arm64", flags=["asimd"])
    assert finding.status is Status.FAIL
    assert finding.message == "needs x86-64 with avx2 and fma; this is ARM64"


@pytest.mark.parametrize(
    ("hypervisor", "words"), [(True, "CPU type to host"), (False, "Use a CPU with avx2")]
)
def test_a_virtual_machine_may_hide_avx2(*, hypervisor: bool, words: str) -> None:
    assert words in (cpu(flags=["fma"], hypervisor=hypervisor).remedy or "")


def test_no_flags_needed_no_flags_read() -> None:
    (finding,) = found(with_facts(cpu=Cpu()), "rabbit", CheckId.RUNTIME_CPU)
    assert finding.status is Status.PASS


def tool(facts: Tool, scenario: str = "kimi-k3-in-c", system: System | None = None) -> Finding:
    machine = host()
    others = tuple(item for item in machine.tools if item.id != facts.id)
    box = with_facts(machine, tools=(*others, facts))
    if system:
        box = with_facts(box, system=system)
    findings = found(box, scenario, CheckId.RUNTIME_TOOLS)
    assert all(
        item.status in {Status.PASS, Status.SKIP} for item in findings if item.subject != facts.id
    )
    (finding,) = (item for item in findings if item.subject == facts.id)
    return finding


def linux(*like: str) -> System:
    return System(system="linux", machine="x86_64", like=like)


MAC = System(system="macos", machine="x86_64")
WINDOWS = System(system="windows", machine="x86_64")


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        (Tool(id="cc", path="/bin/cc", works=True, flavor="gcc", version="8.5.0"), Status.WARN),
        (Tool(id="cc", path="/bin/cc", works=True, flavor="gcc", version="9.0"), Status.PASS),
        (Tool(id="cc", path="/bin/cc", works=True, flavor="clang", version="9.0.1"), Status.WARN),
        (Tool(id="cc", path="/bin/cc", works=True, flavor="clang", version="10.0"), Status.PASS),
        (Tool(id="cc", path="/bin/cc", works=True, flavor="apple-clang", version="9"), Status.PASS),
        (Tool(id="cc", path="/bin/cc", works=True), Status.PASS),
        (Tool(id="python", path="/bin/python3", works=True, version="3.8.20"), Status.WARN),
        (Tool(id="python", path="/bin/python3", works=True, version="3.10.1"), Status.PASS),
        (Tool(id="hf", path="/bin/hf", works=True, version="0.36.0"), Status.WARN),
        (Tool(id="hf", path="/bin/hf", works=True, version="1.0"), Status.PASS),
        (Tool(id="git", path="/bin/git", works=False), Status.WARN),
        (Tool(id="git", problem="not found: git"), Status.WARN),
    ],
)
def test_tools_warn_and_never_fail(facts: Tool, status: Status) -> None:
    assert tool(facts).status is status


def test_a_tool_shows_how_it_was_made_to_work() -> None:
    facts = Tool(id="openmp", path="/usr/bin/cc", works=True, note="with Homebrew's libomp")
    assert tool(facts).message == "openmp: /usr/bin/cc works, with Homebrew's libomp"


CLANG = Tool(
    id="openmp", path="/usr/bin/clang", works=False, flavor="clang", version="14.0.6", problem="omp"
)
NOTHING = {
    name: Tool(id=name, problem=f"not found: {name}") for name in ("git", "cc", "hf", "cmake")
}


@pytest.mark.parametrize(
    ("facts", "system", "remedy"),
    [
        (CLANG, linux("debian"), "sudo apt-get install -y libomp-14-dev; or build with CC=gcc."),
        (CLANG, linux("linuxmint", "ubuntu", "debian"), "libomp-14-dev"),
        (CLANG.model_copy(update={"version": None}), linux("debian"), "libomp-dev"),
        (CLANG, linux("fedora"), "sudo dnf install -y libomp-devel"),
        (CLANG, linux("rocky", "rhel", "centos", "fedora"), "libomp-devel"),
        (CLANG, linux("arch"), "sudo pacman -S --needed openmp"),
        (CLANG, linux("gentoo"), "or build with CC=gcc"),
        (CLANG, MAC, "brew install libomp"),
        (Tool(id="openmp", problem="not found"), linux("alpine"), "sudo apk add gcc"),
        (NOTHING["git"], linux("debian"), "sudo apt-get install -y git"),
        (NOTHING["git"], linux("opensuse-leap", "suse", "opensuse"), "sudo zypper install -y git"),
        (NOTHING["git"], linux("void"), "Install git, and see that it is on PATH."),
        (NOTHING["git"], MAC, "xcode-select --install"),
        (NOTHING["git"], WINDOWS, "winget install --exact --id Git.Git"),
        (NOTHING["cc"], linux("void"), "Install a C compiler, and"),
        (NOTHING["hf"], linux("debian"), "apt-get install -y pipx && pipx install --force"),
        (NOTHING["hf"], linux("void"), "Install it: pipx install --force 'huggingface_hub>=1'"),
        (Tool(id="cc", problem="not found: x", chosen_by="$CC"), linux("debian"), "Let $CC name"),
        (Tool(id="python", problem="no"), WINDOWS, "Python.Python"),
    ],
)
def test_the_install_line_of_the_distribution(facts: Tool, system: System, remedy: str) -> None:
    box = with_facts(system=system, tools=(facts,))
    findings = found(box, "kimi-k3-in-c", CheckId.RUNTIME_TOOLS)
    (finding,) = (item for item in findings if item.subject == facts.id)
    assert finding.status is Status.WARN
    assert remedy in (finding.remedy or "")


def test_cargo_comes_from_rustup_and_homebrew_has_cmake() -> None:
    old = Tool(id="cargo", path="/usr/bin/cargo", works=True, version="1.63.0")
    assert "rustup" in (tool(old, "rabbit").remedy or "")
    (cmake,) = (
        item
        for item in found(
            with_facts(system=MAC, tools=(NOTHING["cmake"],)), "ud-iq1-s", CheckId.RUNTIME_TOOLS
        )
        if item.subject == "cmake"
    )
    assert cmake.remedy == "Install it: brew install cmake"


def test_a_document_without_tools_skips_them() -> None:
    findings = found(with_facts(tools=()), "kimi-k3-in-c", CheckId.RUNTIME_TOOLS)
    assert {finding.status for finding in findings} == {Status.SKIP}


NVCC = Tool(id="gpu-toolkit", path="/bin/nvcc", version="13.0", works=True)
NO_NVCC = Tool(id="gpu-toolkit", problem="not found: nvcc")


@pytest.mark.parametrize(
    ("gpus", "toolkit", "status", "words", "cuda"),
    [
        ((CARD,), NVCC, Status.PASS, "/bin/nvcc 13.0 works", True),
        ((CARD,), NO_NVCC, Status.WARN, "not found: nvcc", False),
        ((CARD,), None, Status.SKIP, "not looked at", False),
        ((), NVCC, Status.SKIP, "no NVIDIA GPU is seen: build without GGML_CUDA", False),
        ((), NO_NVCC, Status.SKIP, "no NVIDIA GPU is seen", False),
        ((), None, Status.SKIP, "no NVIDIA GPU is seen", False),
    ],
)
def test_a_gpu_and_its_compiler_are_two_things(
    gpus: tuple[Gpu, ...], toolkit: Tool | None, status: Status, words: str, *, cuda: bool
) -> None:
    tools = (toolkit,) if toolkit else ()
    judged = report(with_facts(gpus=gpus, tools=tools), "ud-iq1-s").assessments[0]
    (finding,) = (
        item for item in judged.of(CheckId.RUNTIME_TOOLS) if item.subject == "gpu-toolkit"
    )
    assert finding.status is status
    assert words in finding.message
    assert any("-DGGML_CUDA=ON" in line.run for line in judged.commands) is cuda
    assert any("cmake -S" in line.run for line in judged.commands)


def test_metal_comes_with_the_platform() -> None:
    box = with_facts(system=System(system="macos", machine="arm64"))
    (finding,) = (
        item
        for item in found(box, "ud-iq1-s", CheckId.RUNTIME_TOOLS)
        if item.subject == "gpu-toolkit"
    )
    assert (finding.status, finding.message) == (
        Status.PASS,
        "gpu-toolkit: Metal comes with the platform",
    )


def gpu(*gpus: Gpu, memory: Memory | None = None) -> Finding:
    box = with_facts(gpus=gpus, memory=memory or host().memory)
    (finding,) = found(box, "ud-iq1-s", CheckId.RUNTIME_GPU)
    return finding


def card(total: int | None, **facts: object) -> Gpu:
    return CARD.model_copy(update={"total": total} | facts)


@pytest.mark.parametrize(
    ("gpus", "status"),
    [
        ((card(TOUCHED),), Status.PASS),
        ((card(TOUCHED - 1),), Status.WARN),
        ((card(TOUCHED // 2), card(TOUCHED // 2 + 1)), Status.PASS),
        ((card(None),), Status.SKIP),
        ((card(900 * GB, unified=True),), Status.SKIP),
        ((card(900 * GB, visible=False),), Status.SKIP),
        ((card(900 * GB, divided=True), card(40 * GB, instance_of="GPU-1")), Status.WARN),
        ((), Status.SKIP),
    ],
)
def test_what_every_token_touches_against_vram(gpus: tuple[Gpu, ...], status: Status) -> None:
    assert gpu(*gpus).status is status


def test_several_cards_are_an_aggregate() -> None:
    assert "an aggregate and not a promise" in gpu(CARD, CARD).message


def test_a_gpu_nobody_could_ask_is_one_quiet_line() -> None:
    why = Unknown(fact="gpus", reason="not looked at: the extra is not installed")
    (finding,) = found(
        with_facts(gpus=None, unknown=(why,), graphics=("NVIDIA",)), "ud-iq1-s", CheckId.RUNTIME_GPU
    )
    assert finding.status is Status.SKIP
    assert finding.message == f"{why.reason} (an NVIDIA GPU is on the bus)"


@pytest.mark.parametrize(("limit", "status"), [(384 * GIB, Status.PASS), (16 * GIB, Status.WARN)])
def test_a_macs_gpu_holds_a_share_of_its_memory(limit: int, status: Status) -> None:
    facts = {"gpu_limit": limit, "gpu_limit_from": "estimate: iogpu.wired_limit_mb is not set"}
    finding = gpu(memory=host().memory.model_copy(update=facts))
    assert finding.status is status
    assert "estimate" in finding.message


def test_runtimes_without_a_gpu_say_so() -> None:
    (finding,) = found(host(), "rabbit", CheckId.RUNTIME_GPU)
    assert (finding.status, finding.message) == (Status.SKIP, "Rabbit runs on the CPU alone")


def test_a_quant_without_traffic_says_nothing_about_vram() -> None:
    (choice,) = choices("ud-iq1-s")
    profile = choice.scenarios[0].profile.model_copy(update={"traffic": None})
    scenario = choice.scenarios[0]._replace(profile=profile)
    judged = assess([choice._replace(scenarios=(scenario,))], with_facts(gpus=(CARD,)), Policy())
    (finding,) = judged.assessments[0].of(CheckId.RUNTIME_GPU)
    assert finding.message == "the size of the non-routed weights is not published"


def pooled(*gpus: Gpu, policy: Policy = VRAM, scenario: str = "ud-iq1-s") -> Report:
    return report(with_facts(host(usable=512 * GB), gpus=gpus), scenario, policy=policy)


def residency(judged: Report) -> Finding:
    (finding,) = judged.assessments[0].of(CheckId.MEMORY_RESIDENCY)
    return finding


def test_vram_is_added_only_when_asked_for() -> None:
    cards = [CARD, CARD]
    plain, asked = (pooled(*cards, policy=policy) for policy in (Policy(), VRAM))
    assert residency(plain).budget == residency(pooled()).budget
    budget = residency(asked).budget
    assert budget
    assert budget.have == 672 * GB
    assert [item.name for item in budget.items if item.side == "have"] == [
        "usable memory",
        "VRAM of A card",
        "VRAM of A card",
    ]
    assert "an aggregate and not a promise" in residency(asked).message
    assert "not a promise" in asked.policy.notes[0]
    assert plain.policy.notes == ()
    (recommended,) = asked.assessments[0].of(CheckId.MEMORY_RECOMMENDED)
    assert recommended.status is Status.PASS


def test_runtimes_that_do_not_offload_get_no_vram() -> None:
    judged = pooled(CARD, scenario="rabbit")
    assert residency(judged).budget == residency(pooled(scenario="rabbit")).budget
    assert judged.policy.notes == (
        "--pool vram adds nothing: none of these runtimes offloads to a GPU",
    )


@pytest.mark.parametrize(
    ("gpus", "why"),
    [
        ((), "no NVIDIA GPU"),
        ((card(None),), "does not say how much it has (N/A)"),
        ((card(9 * GB, unified=True),), "shares the system's memory, counted there"),
        ((card(9 * GB, visible=False),), "CUDA_VISIBLE_DEVICES hides every NVIDIA GPU"),
    ],
)
def test_a_pool_that_adds_nothing_says_why(gpus: tuple[Gpu, ...], why: str) -> None:
    judged = pooled(*gpus)
    assert judged.policy.notes[0].startswith("--pool vram adds nothing: ")
    assert why in judged.policy.notes[0]
    budget = residency(judged).budget
    assert budget
    assert budget.have == 512 * GB


def test_a_process_gets_one_instance() -> None:
    parts = [card(size * GB, instance_of="GPU-1") for size in (20, 40)]
    judged = pooled(card(80 * GB, divided=True), *parts)
    budget = residency(judged).budget
    assert budget
    assert budget.have == 552 * GB
    assert "a process gets one MIG instance" in judged.policy.notes[0]
    assert "a process gets" not in pooled(parts[0]).policy.notes[0]


def test_instances_are_not_added_to_whole_cards() -> None:
    judged = pooled(CARD, card(40 * GB, instance_of="GPU-2"))
    budget = residency(judged).budget
    assert budget
    assert budget.have == 592 * GB
    assert "MIG instances are not added to whole devices" in judged.policy.notes[0]


def test_memory_from_a_flag_overrides_vram() -> None:
    judged = pooled(CARD, policy=Policy(pool=Pool.VRAM, memory=128 * GB))
    assert "--memory says how much there is" in judged.policy.notes[-1]
    budget = residency(judged).budget
    assert budget
    assert budget.have == 128 * GB
    (finding,) = judged.assessments[0].of(CheckId.RUNTIME_GPU)
    assert finding.status is Status.SKIP


@pytest.mark.parametrize(("gpus", "status"), [(None, Status.UNKNOWN), ((), Status.FAIL)])
def test_required_residency_with_a_pool_nobody_could_ask(
    gpus: tuple[Gpu, ...] | None, status: Status
) -> None:
    policy = Policy(pool=Pool.VRAM, require_resident=True)
    judged = report(with_facts(host(usable=512 * GB), gpus=gpus), "ud-iq1-s", policy=policy)
    assert residency(judged).status is status


@pytest.mark.parametrize(
    ("usable", "note"),
    [
        (5, "kimi-k3-in-c:largest: no preset is known to fit; kimi-k3-in-c:laptop is judged"),
        (
            25,
            (
                "kimi-k3-in-c:largest is kimi-k3-in-c:laptop; kimi-k3-in-c:desktop would need "
                "33.01 GB (30.75 GiB) usable, 8.01 GB more"
            ),
        ),
        (900, "kimi-k3-in-c:largest is kimi-k3-in-c:max, the largest there is"),
        (None, "kimi-k3-in-c:largest: no preset is known to fit; kimi-k3-in-c:laptop is judged"),
    ],
)
def test_the_largest_preset_names_what_the_next_would_need(usable: int | None, note: str) -> None:
    machine = host(usable=None if usable is None else usable * GB)
    (judged,) = report(machine, "kimi-k3-in-c:largest").assessments
    assert judged.notes == (note,)
