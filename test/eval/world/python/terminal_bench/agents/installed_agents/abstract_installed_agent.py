"""The part of Terminal-Bench's base class that agents use, with its names and signatures."""

from abc import ABC, abstractmethod

from terminal_bench.agents.base_agent import AgentResult


class AbstractInstalledAgent(ABC):
    CONTAINER_AGENT_LOGS_PATH = "/agent-logs"

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise TypeError(f"unexpected: {args} {kwargs}")

    @staticmethod
    @abstractmethod
    def name(): ...

    @property
    @abstractmethod
    def _env(self): ...

    @property
    @abstractmethod
    def _install_agent_script_path(self): ...

    @abstractmethod
    def _run_agent_commands(self, instruction): ...

    def perform_task(self, instruction, session, logging_dir=None):
        session.start(self._env, self._install_agent_script_path)
        for command in self._run_agent_commands(instruction):
            session.send_command(command)
        return AgentResult(total_input_tokens=0, total_output_tokens=0)
