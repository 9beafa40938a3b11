"""Muster as an agent of Harbor: harbor run --agent-import-path muster_agent.harbor:Muster"""

from pathlib import Path
from typing import Any

from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

from muster_agent import command

# Harbor copies this directory of the container to `logs_dir`.
LOGS = "/logs/agent"


class Muster(BaseInstalledAgent):
    """Installs Muster from npm and runs it without a terminal in autonomous mode."""

    SUPPORTS_ATIF: bool = True

    def __init__(
        self,
        logs_dir: Path,
        *args: Any,
        package: str = "muster-agent",
        max_seconds: int | None = None,
        max_cost_usd: float | None = None,
        delegation: bool = True,
        family: str = "auto",
        flags: str = "",
        **kwargs: Any,
    ):
        """
        :param package: what npm installs, or the path of a package that `npm pack` made
        :param max_seconds: the wall time after which Muster ends the run in an orderly way
        :param max_cost_usd: the highest cost of a run
        :param delegation: whether Muster may delegate to subagents
        :param family: the form of tools (models.family)
        :param flags: further flags of `muster`
        """
        super().__init__(logs_dir, *args, **kwargs)
        self._package = package
        self._options = command.Options(
            model=command.muster_model(self.model_name),
            max_seconds=None if max_seconds is None else int(max_seconds),
            max_cost_usd=None if max_cost_usd is None else float(max_cost_usd),
            delegation=str(delegation).lower() not in ("false", "0", "no"),
            family=family,
            flags=flags,
        )

    @staticmethod
    def name() -> str:
        return "muster"

    def get_version_command(self) -> str | None:
        return "muster --version"

    async def install(self, environment: BaseEnvironment) -> None:
        package = self._package
        if Path(package).is_file():
            package = "/installed-agent/muster-agent.tgz"
            await environment.upload_file(Path(self._package), package)
        elif self._version is not None:
            package = f"{package}@{self._version}"
        script = command.INSTALL_SCRIPT.read_text()
        await self.exec_as_root(environment, command=script, env={"MUSTER_PACKAGE": package})

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        await self.exec_as_agent(
            environment,
            command=command.run_command(instruction, self._options, LOGS),
            env=command.provider_environment(self._options.model),
        )

    def populate_context_post_run(self, context: AgentContext) -> None:
        usage = command.read_usage(self._read_log(command.USAGE), self._read_log(command.EVENTS))
        context.n_input_tokens = usage.input_tokens
        context.n_cache_tokens = usage.cached_tokens
        context.n_output_tokens = usage.output_tokens
        context.cost_usd = usage.cost_usd
        context.metadata = {
            **(context.metadata or {}),
            "turns": usage.turns,
            "subagents": usage.subagents,
            "usage_is_complete": usage.is_complete,
        }

    def _read_log(self, name: str) -> str | None:
        path = Path(self.logs_dir) / name
        return path.read_text(errors="replace") if path.is_file() else None
