import { expect, it } from 'vitest';
import { printRule } from '../../src/policy/rules/rules.ts';
import type { HookSource } from '../../src/protocol/hook.ts';
import { readHookCondition } from '../../src/trust/hook-conditions.ts';

const USER: HookSource = { kind: 'user', where: '/home/u/.claude/settings.json' };
const MOVED: HookSource = { kind: 'user', where: '/x/cc/settings.json' };
const OWN: HookSource = { kind: 'user', where: '/home/u/.config/muster/hooks.json' };
const PROJECT: HookSource = { kind: 'project', where: '/p/.claude/settings.json' };
const PLUGIN: HookSource = { kind: 'plugin', where: '/x/.claude/hooks.json', pluginRoot: '/x' };

it.each<[string, HookSource, readonly string[], readonly string[], string | null]>([
  ['Bash(git *)', USER, ['Bash(git *)'], ['Bash(git *)'], null],
  ['run_shell_command(git *)', OWN, ['Bash(git *)'], ['Bash(git *)'], null],
  // A pattern with one slash is relative to the file in Claude Code, and to the workspace in Muster.
  ['Edit(/src/**)', PROJECT, ['Edit(//p/src/**)', 'Edit(/src/**)'], ['Edit(//p/src/**)'], null],
  ['Edit(/a)', MOVED, ['Edit(//x/cc/a)', 'Edit(/a)'], ['Edit(//x/cc/a)'], null],
  ['Edit(/a)', USER, ['Edit(//home/u/.claude/a)', 'Edit(/a)'], ['Edit(//home/u/.claude/a)'], null],
  ['Edit(/src/**)', OWN, ['Edit(/src/**)'], ['Edit(/src/**)'], null],
  ['Edit(/src/**)', PLUGIN, ['Edit(/src/**)'], ['Edit(/src/**)'], null],
  // What is not clear makes the hook run more often, and allow less.
  [
    'create_file',
    OWN,
    ['Write'],
    [],
    'create_file does less than Write; write Write, and in brackets what it may do',
  ],
  ['TodoWrite(x)', OWN, ['TodoWrite'], [], 'TodoWrite takes no specifier; write `TodoWrite` alone'],
  ['Bsh(git *)', USER, [], [], 'there is no tool "Bsh"; did you mean Bash?'],
  [
    'Bash(a) && Bash(b)',
    OWN,
    ['Bash'],
    [],
    'only `(specifier)` with balanced brackets may follow the tool name',
  ],
  ['', USER, [], [], 'it must start with a tool name, as in `Bash(npm test)`'],
])('reads the condition %j of a hook', (text, source, rules, allowing, problem) => {
  const read = readHookCondition(text, source);
  expect({
    rules: read.rules.map(printRule),
    allowing: read.allowing.map(printRule),
    problem: read.problem,
  }).toEqual({ rules, allowing, problem });
});
