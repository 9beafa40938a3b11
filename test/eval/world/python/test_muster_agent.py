"""
Tests the agents with base classes like those of Harbor and Terminal-Bench. Commands run on this machine, in a directory of
their own, with the built Muster and a scripted model; the installation is that of a packed package.
"""

import asyncio
import json
import os
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from harbor.models.agent.context import AgentContext

from muster_agent import command, harbor, terminal_bench

INSTRUCTION = "- Write \"it's $HOME\"\nand `done`."
MODEL = "anthropic/claude-sonnet-5"


@dataclass
class Result:
    return_code: int
    stdout: str
    stderr: str


class Machine:
    """Runs commands in an empty directory."""

    def __init__(self, place: Path):
        self.directory = place / "work"
        self.directory.mkdir()
        self.calls: list[dict] = []
        self.uploads: list[tuple] = []

    def run(self, line: str, env: dict[str, str]) -> subprocess.CompletedProcess:
        # Only what a container would have, and what the agent passes.
        base = {"PATH": os.environ["PATH"], "HOME": str(self.directory)}
        return subprocess.run(
            ["bash", "-c", line], cwd=self.directory, env={**base, **env}, capture_output=True, text=True, timeout=200
        )

    async def exec(self, command, user=None, env=None, cwd=None, timeout_sec=None):
        self.calls.append({"command": command, "user": user, "env": env})
        if user == "root":
            return Result(0, "", "")
        done = self.run(command, env or {})
        return Result(done.returncode, done.stdout, done.stderr)

    async def upload_file(self, source, target):
        self.uploads.append((str(source), target))


class Session:
    """Stands for the terminal of a task."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.env: dict[str, str] = {}
        self.container = SimpleNamespace(exec_run=self.exec_run)

    def start(self, env, script):
        self.env = env
        assert script.read_text().startswith("#!/bin/bash\n")

    def send_command(self, command):
        assert command.block and command.max_timeout_sec == float("inf")
        self.code = self.machine.run(f"{command.command}\necho still open", self.env)

    def exec_run(self, argv):
        done = subprocess.run(argv, capture_output=True)
        return SimpleNamespace(exit_code=done.returncode, output=done.stdout)


class MusterAgentTest(unittest.TestCase):
    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.machine = Machine(self.place)
        self.logs = self.place / "logs with blanks"
        self.logs.mkdir()

    def test_harbor(self):
        harbor.LOGS = str(self.logs)
        agent = harbor.Muster(self.logs, model_name=MODEL, version="1.2.3", max_seconds="100", max_cost_usd=5)
        context = AgentContext()
        asyncio.run(agent.install(self.machine))
        asyncio.run(agent.run(INSTRUCTION, self.machine, context))
        agent.populate_context_post_run(context)
        install, run = self.machine.calls
        self.assertEqual((install["user"], install["env"]), ("root", {"MUSTER_PACKAGE": "muster-agent@1.2.3"}))
        self.assertEqual(set(run["env"]), {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"})
        self.assertEqual((self.machine.directory / "out.txt").read_text(), INSTRUCTION)
        self.assertEqual(
            context,
            AgentContext(
                n_input_tokens=2 * 1500,
                n_cache_tokens=2 * 400,
                n_output_tokens=2 * 100,
                cost_usd=context.cost_usd,
                metadata={"turns": 2, "subagents": 0, "usage_is_complete": True},
            ),
        )
        self.assertGreater(context.cost_usd, 0)
        trajectory = json.loads((self.logs / "trajectory.json").read_text())
        self.assertEqual((agent.SUPPORTS_ATIF, trajectory["schema_version"]), (True, "ATIF-v1.7"))
        self.assertEqual([step["source"] for step in trajectory["steps"]], ["system", "user", "agent", "agent"])
        self.assertEqual(trajectory["steps"][1]["message"], INSTRUCTION)
        self.assertEqual(agent.name(), "muster")
        self.assertRegex(self.machine.run(agent.get_version_command(), {}).stdout, r"\d+\.\d+\.\d+")

    def test_a_packed_package_is_uploaded(self):
        package = self.place / "muster-agent-9.9.9.tgz"
        package.write_bytes(b"")
        agent = harbor.Muster(self.logs, model_name=MODEL, package=str(package))
        asyncio.run(agent.install(self.machine))
        self.assertEqual(self.machine.uploads, [(str(package), "/installed-agent/muster-agent.tgz")])
        self.assertEqual(self.machine.calls[0]["env"], {"MUSTER_PACKAGE": "/installed-agent/muster-agent.tgz"})

    def test_a_run_that_fails_raises_with_the_message(self):
        harbor.LOGS = str(self.logs)
        agent = harbor.Muster(self.logs, model_name="anthropic/claude-sonnet-5", flags="--no-such-flag")
        with self.assertRaisesRegex(RuntimeError, "no-such-flag"):
            asyncio.run(agent.run(INSTRUCTION, self.machine, AgentContext()))

    def test_a_killed_run_has_the_usage_of_its_events(self):
        (self.logs / command.EVENTS).write_text(
            '{"type":"turn.ended","usage":{"input":10,"output":2,"cacheRead":5,"cacheWrite":1},"costUsd":0.5}\n{"type":"turn.en'
        )
        context = AgentContext(metadata={"kept": True})
        harbor.Muster(self.logs, model_name=MODEL).populate_context_post_run(context)
        expected = {"kept": True, "turns": 1, "subagents": 0, "usage_is_complete": False}
        self.assertEqual(context, AgentContext(16, 5, 2, 0.5, expected))

    def test_terminal_bench(self):
        agent = terminal_bench.Muster(model_name=MODEL, delegation="false", family="openai")
        terminal_bench.Muster.CONTAINER_AGENT_LOGS_PATH = str(self.logs)
        session = Session(self.machine)
        result = agent.perform_task(INSTRUCTION, session)
        self.assertEqual(session.code.stdout, "still open\n")
        self.assertEqual((result.total_input_tokens, result.total_output_tokens), (3000, 200))
        # A patch ends each line.
        self.assertEqual((self.machine.directory / "out.txt").read_text(), INSTRUCTION + "\n")
        self.assertEqual(set(session.env), {"MUSTER_PACKAGE", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"})

    def test_models_and_keys(self):
        self.assertEqual(command.muster_model("gemini/gemini-3-pro"), "google/gemini-3-pro")
        self.assertEqual(command.muster_model("openrouter/a/b"), "openrouter/a/b")
        for wrong in (None, "", "gpt-5"):
            with self.assertRaises(ValueError):
                command.muster_model(wrong)
        present = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": "other"}
        self.assertEqual(command.provider_environment("openai/gpt-5", present), {"OPENAI_API_KEY": "k"})


if __name__ == "__main__":
    unittest.main()
