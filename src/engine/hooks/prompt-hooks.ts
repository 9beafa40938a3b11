import { resolve } from 'node:path';
import { expansionHookFields } from '../../protocol/hook-fields.ts';
import type { HookOutcome } from '../../protocol/hook.ts';
import type { TaskInput } from '../../protocol/input.ts';
import type { ContextFile } from '../../protocol/project-context.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { hasHooks, runHooks } from './run-hooks.ts';

/** Runs the hooks of the slash command or the prompt of an MCP server that a message runs. */
export async function runExpansionHooks(
  deps: EngineDeps,
  run: TaskRun,
  input: TaskInput,
): Promise<Pick<HookOutcome, 'block' | 'context'>> {
  const fields = expansionHookFields(input);
  if (fields === null) return { context: [] };
  const matched = fields.command_name;
  return await runHooks(deps, run, {
    event: 'UserPromptExpansion',
    about: input.id,
    matched,
    fields,
  });
}

/** Tells hooks of each context file with which a conversation begins. They run at the same time, and change nothing. */
export async function runInstructionHooks(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { cwd, agent } = run.spec;
  if (agent.contextFiles === false || !hasHooks(deps, run, 'InstructionsLoaded')) return;
  const files = deps.context?.getContext(cwd)?.files ?? [];
  await Promise.all(
    files.map((file) => {
      const reason = file.importedBy === undefined ? 'session_start' : 'include';
      const fields = describeContextFile(file, { cwd, home: deps.home, reason });
      return runHooks(deps, run, { event: 'InstructionsLoaded', matched: reason, fields });
    }),
  );
}

interface FilePlace {
  readonly cwd: string;
  readonly home: string;
  readonly reason: 'session_start' | 'include';
}

function describeContextFile(
  { name, scope, importedBy }: ContextFile,
  { cwd, home, reason }: FilePlace,
) {
  const toPath = (shown: string): string =>
    resolve(
      cwd,
      shown.replace(/^~(?=\/)/, () => home),
    );
  return {
    file_path: toPath(name),
    memory_type: scope === 'user' ? 'User' : 'Project',
    load_reason: reason,
    ...(importedBy === undefined ? {} : { parent_file_path: toPath(importedBy) }),
  };
}
