"""Muster as an agent of Terminal-Bench: tb run --agent-import-path muster_agent.terminal_bench:Muster"""

from pathlib import Path
from typing import Any

from terminal_bench.agents.base_agent import AgentResult
from terminal_bench.agents.installed_agents.abstract_installed_agent import AbstractInstalledAgent
from terminal_bench.terminal.models import TerminalCommand
from terminal_bench.terminal.tmux_session import TmuxSession

from muster_agent import command


class Muster(AbstractInstalledAgent):
    """Installs Muster from npm and runs it without a terminal in autonomous mode."""

    def __init__(
        self,
        model_name: str,
        *args: Any,
        package: str = "muster-agent",
        max_seconds: int | None = None,
        max_cost_usd: float | None = None,
        delegation: bool = True,
        family: str = "auto",
        flags: str = "",
        **kwargs: Any,
    ):
        """The parameters are those of muster_agent.harbor, except that `package` is no path."""
        super().__init__(*args, **kwargs)
        self._package = package
        self._options = command.Options(
            model=command.muster_model(model_name),
            max_seconds=None if max_seconds is None else int(max_seconds),
            max_cost_usd=None if max_cost_usd is None else float(max_cost_usd),
            delegation=str(delegation).lower() not in ("false", "0", "no"),
            family=family,
            flags=flags,
        )

    @staticmethod
    def name() -> str:
        return "muster"

    @property
    def _env(self) -> dict[str, str]:
        return {"MUSTER_PACKAGE": self._package, **command.provider_environment(self._options.model)}

    @property
    def _install_agent_script_path(self) -> Path:
        return command.INSTALL_SCRIPT

    def _run_agent_commands(self, instruction: str) -> list[TerminalCommand]:
        # The shell of the task stays open.
        line = f"({command.run_command(instruction, self._options, self._logs)})"
        return [TerminalCommand(command=line, max_timeout_sec=float("inf"), block=True, append_enter=True)]

    def perform_task(
        self, instruction: str, session: TmuxSession, logging_dir: Path | None = None
    ) -> AgentResult:
        result = super().perform_task(instruction, session, logging_dir)
        usage = command.read_usage(
            self._read_log(session, command.USAGE), self._read_log(session, command.EVENTS)
        )
        return result.model_copy(
            update={
                "total_input_tokens": usage.input_tokens,
                "total_output_tokens": usage.output_tokens,
            }
        )

    @property
    def _logs(self) -> str:
        return str(self.CONTAINER_AGENT_LOGS_PATH)

    def _read_log(self, session: TmuxSession, name: str) -> str | None:
        read = session.container.exec_run(["cat", f"{self._logs}/{name}"])
        return read.output.decode(errors="replace") if read.exit_code == 0 else None
