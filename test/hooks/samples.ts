import { readHooks, type HooksOfFile } from '../../src/hooks/read-hooks.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { readHookCondition } from '../../src/trust/hook-conditions.ts';
import type { HookOccasion, HookSource, HookTask } from '../../src/protocol/hook.ts';

export const USER: HookSource = { kind: 'user', where: '/home/u/.claude/settings.json' };
export const PROJECT: HookSource = { kind: 'project', where: '/p/.claude/settings.json' };

/** A task of the conversation `root`. */
export function makeTask(task: Partial<HookTask> = {}): HookTask {
  return {
    id: 'root',
    rootId: 'root',
    parentId: null,
    agentType: 'main',
    depth: 0,
    cwd: '/p',
    mode: 'default',
    logFile: '/data/root.jsonl',
    rootLogFile: '/data/root.jsonl',
    ...task,
  };
}

/** The moment before a call of Bash. */
export function makeOccasion(occasion: Partial<HookOccasion> = {}): HookOccasion {
  return {
    event: 'PreToolUse',
    task: makeTask(),
    matched: 'Bash',
    fields: { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1' },
    ...occasion,
  };
}

/** Reads hooks like a session. */
export function readTestHooks(value: JsonValue, source: HookSource = USER): HooksOfFile {
  return readHooks(value, source, readHookCondition);
}
