"""The part of Harbor's base class that agents use, with its names and signatures."""

import functools
import logging
from abc import ABC, abstractmethod


def with_prompt_template(function):
    @functools.wraps(function)
    async def wrapper(self, instruction, *args, **kwargs):
        return await function(self, self.render_instruction(instruction), *args, **kwargs)

    return wrapper


class BaseInstalledAgent(ABC):
    def __init__(self, logs_dir, prompt_template_path=None, version=None, extra_env=None, *, model_name=None):
        self.logs_dir = logs_dir
        self.model_name = model_name
        self.logger = logging.getLogger("agent")
        self._version = version
        self._extra_env = dict(extra_env or {})

    @staticmethod
    @abstractmethod
    def name(): ...

    @abstractmethod
    async def install(self, environment): ...

    @abstractmethod
    async def run(self, instruction, environment, context): ...

    @abstractmethod
    def populate_context_post_run(self, context): ...

    def get_version_command(self):
        return None

    def render_instruction(self, instruction):
        return instruction

    async def exec_as_root(self, environment, command, env=None, cwd=None, timeout_sec=None):
        return await self._exec(environment, command, "root", env)

    async def exec_as_agent(self, environment, command, env=None, cwd=None, timeout_sec=None):
        return await self._exec(environment, command, None, env)

    async def _exec(self, environment, command, user, env):
        merged = {**(env or {}), **self._extra_env}
        result = await environment.exec(command=f"set -o pipefail; {command}", user=user, env=merged)
        if result.return_code != 0:
            raise RuntimeError(f"exit {result.return_code}: {result.stderr}")
        return result
