"""The command that runs Muster on a task, and what it used."""

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

INSTALL_SCRIPT = Path(__file__).parent / "install.sh"

EVENTS = "muster.jsonl"
ERRORS = "muster-stderr.txt"
USAGE = "muster-usage.json"
# The name under which Harbor looks for the trajectory.
TRAJECTORY = "trajectory.json"

# The names of providers that Muster calls differently.
PROVIDERS = {"gemini": "google"}

# The variables that each provider reads. No others enter the container.
PROVIDER_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "openrouter": ("OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
    "deepseek": ("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "together": ("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    "fireworks": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
    "moonshot": ("MOONSHOT_API_KEY",),
    "zai": ("ZAI_API_KEY", "Z_AI_API_KEY"),
    "qwen": ("DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL"),
    "minimax": ("MINIMAX_API_KEY",),
}


def muster_model(model_name: str | None) -> str:
    """Returns the model as `muster --model` takes it."""
    if not model_name or "/" not in model_name:
        raise ValueError(f"the model must be given as provider/model, not {model_name!r}")
    provider, model = model_name.split("/", 1)
    return f"{PROVIDERS.get(provider, provider)}/{model}"


def provider_environment(model: str, environment: dict[str, str] | None = None) -> dict[str, str]:
    """Returns the keys and addresses of the provider of a model."""
    present = os.environ if environment is None else environment
    names = PROVIDER_VARIABLES.get(model.split("/", 1)[0], ())
    return {name: present[name] for name in names if present.get(name)}


@dataclass(frozen=True)
class Options:
    """How Muster runs."""

    model: str
    # Ends the run in an orderly way before the harness kills it.
    max_seconds: int | None = None
    max_cost_usd: float | None = None
    delegation: bool = True
    # The form of tools (models.family).
    family: str = "auto"
    # Further flags, as on a command line.
    flags: str = ""


def run_command(instruction: str, options: Options, logs: str) -> str:
    """
    Returns a shell command that runs Muster without a terminal in autonomous mode, and then writes what it used and its
    trajectory. The container is the sandbox. It exits with 0 if Muster worked on the task, although a limit may have ended
    it.
    """
    data = shlex.quote(f"{logs}/muster")
    flags = [
        f"--model={options.model}",
        "--output-format=stream-json",
        "--permission-mode=autonomous",
        "--sandbox=container",
        f"--data-dir={logs}/muster",
    ]
    if options.max_seconds is not None:
        flags.append(f"--max-seconds={options.max_seconds}")
    if options.max_cost_usd is not None:
        flags.append(f"--max-cost-usd={options.max_cost_usd}")
    flags.extend(shlex.split(options.flags))
    settings = {
        "MUSTER_TASK_TOOL_ENABLED": "true" if options.delegation else "false",
        "MUSTER_MODELS_FAMILY": options.family,
    }
    variables = shlex.join(f"{name}={value}" for name, value in settings.items())
    output = {name: shlex.quote(f"{logs}/{name}") for name in (EVENTS, ERRORS, USAGE, TRAJECTORY)}
    # The first event names the task.
    find_task = f"""sed -n '1s/^{{[^{{]*"task":"\\([a-z0-9]*\\)".*/\\1/p' {output[EVENTS]}"""
    return (
        f"mkdir -p {data}; "
        f"printf '%s' {shlex.quote(instruction)} | "
        f"env {variables} muster --print {shlex.join(flags)} > {output[EVENTS]} 2> {output[ERRORS]}; "
        "code=$?; "
        f"muster usage --data-dir {data} --json > {output[USAGE]}; "
        f"task=$({find_task}); "
        f'if [ -n "$task" ]; then muster tasks export "$task" {output[TRAJECTORY]} --format atif --force '
        f"--data-dir {data} > /dev/null 2>> {output[ERRORS]}; fi; "
        'if [ "$code" -eq 0 ] || [ "$code" -eq 3 ]; then exit 0; fi; '
        f"tail -n 20 {output[ERRORS]} >&2; exit \"$code\""
    )


@dataclass(frozen=True)
class Usage:
    """What a run used, with all of its subagents."""

    # All tokens of the input, with those from a cache.
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    # None: a price is unknown.
    cost_usd: float | None
    turns: int
    subagents: int
    # False: the run was killed, so the tokens of subagents are missing.
    is_complete: bool


def read_usage(usage_json: str | None, events: str | None) -> Usage:
    """
    Reads what a run used: from `muster usage --json`, or from the events of a run that was killed before it wrote that.
    """
    try:
        total = json.loads(usage_json or "")["total"]
    except (ValueError, KeyError, TypeError):
        return _usage_of_events(events or "")
    parts = [total["reported"], total["estimated"]]

    def tokens(name: str) -> int:
        return sum(part["usage"][name] for part in parts)

    costs = [part["costUsd"] for part in parts]
    return Usage(
        input_tokens=tokens("input") + tokens("cacheRead") + tokens("cacheWrite"),
        cached_tokens=tokens("cacheRead"),
        output_tokens=tokens("output"),
        cost_usd=None if None in costs else sum(costs),
        turns=sum(part["answers"] for part in parts),
        subagents=max(0, total["tasks"] - 1),
        is_complete=True,
    )


def _usage_of_events(events: str) -> Usage:
    turns = []
    for line in events.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # The last line of a killed run is torn.
        if isinstance(event, dict) and event.get("type") == "turn.ended":
            turns.append(event)

    def tokens(name: str) -> int:
        return sum((turn.get("usage") or {}).get(name, 0) for turn in turns)

    costs = [turn.get("costUsd") for turn in turns]
    return Usage(
        input_tokens=tokens("input") + tokens("cacheRead") + tokens("cacheWrite"),
        cached_tokens=tokens("cacheRead"),
        output_tokens=tokens("output"),
        cost_usd=None if None in costs else sum(costs),
        turns=len(turns),
        subagents=0,
        is_complete=False,
    )
