import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { HOOK_EVENT_SUPPORT } from '../../src/hooks/hook-events.ts';
import { HOOK_EVENTS } from '../../src/protocol/hook.ts';
import { PROJECT, readTestHooks, USER } from './samples.ts';

const DEFAULTS = {
  event: 'PreToolUse',
  matcher: '',
  source: USER,
  path: 'hooks.PreToolUse[0].hooks[0]',
  timeoutMs: 600_000,
  isAsync: false,
  isRewaking: false,
  isOnce: false,
  blocksOnFailure: false,
};

/** Reads one hook of PreToolUse. */
function readOne(hook: JsonValue, source = USER) {
  return readTestHooks({ PreToolUse: [{ hooks: [hook] }] }, source);
}

const command = (fields: Record<string, JsonValue> = {}) => ({
  type: 'command',
  command: 'x',
  ...fields,
});
const http = (fields: Record<string, JsonValue> = {}) => ({
  type: 'http',
  url: 'https://a.example/h',
  ...fields,
});
const COMMAND = { kind: 'command', command: 'x' };
const HTTP = { kind: 'http', url: 'https://a.example/h', headers: {}, allowedVariables: [] };
const ALWAYS = 'so the hook runs at every call that its matcher covers, and allows none';
const AT = 'hooks.PreToolUse[0].hooks[0]';

describe('a settings file', () => {
  it('gives its hooks in order, with all that they say', () => {
    const value = {
      PreToolUse: [
        {
          matcher: 'Bash|Edit',
          hooks: [
            command({ timeout: 5, async: true, once: true, statusMessage: 'checking' }),
            command({ command: 'node', args: ['a b', '$x'], onFailure: 'block', shell: 'bash' }),
          ],
        },
      ],
      UserPromptSubmit: [{ hooks: [http({ headers: { A: 'Bearer $T' }, allowedEnvVars: ['T'] })] }],
      SessionEnd: [{ matcher: '*', hooks: [command()] }],
    };
    expect(readTestHooks(value, USER)).toEqual({
      problems: [],
      hooks: [
        {
          ...DEFAULTS,
          matcher: 'Bash|Edit',
          action: COMMAND,
          timeoutMs: 5_000,
          isAsync: true,
          isOnce: true,
        },
        {
          ...DEFAULTS,
          matcher: 'Bash|Edit',
          path: 'hooks.PreToolUse[0].hooks[1]',
          action: { kind: 'command', command: 'node', args: ['a b', '$x'] },
          blocksOnFailure: true,
        },
        {
          ...DEFAULTS,
          event: 'UserPromptSubmit',
          path: 'hooks.UserPromptSubmit[0].hooks[0]',
          action: { ...HTTP, headers: { A: 'Bearer $T' }, allowedVariables: ['T'] },
          timeoutMs: 30_000,
        },
        {
          ...DEFAULTS,
          event: 'SessionEnd',
          matcher: '*',
          path: 'hooks.SessionEnd[0].hooks[0]',
          action: COMMAND,
          timeoutMs: 60_000,
        },
      ],
    });
  });

  it('is not changed by a later change of the value', () => {
    const headers = { A: 'a' };
    const { hooks } = readOne(http({ headers }));
    headers.A = 'changed';
    expect(hooks[0]?.action).toEqual({ ...HTTP, headers: { A: 'a' } });
  });
});

describe('a value that cannot be used', () => {
  it.each<[string, JsonValue, string]>([
    ['no object', [], 'hooks: must be an object with a list of hooks for each event'],
    ['an unknown event', { Nope: [] }, 'hooks.Nope: is not an event, so its hooks are not run'],
    [
      'an event for later',
      { FileChanged: [] },
      'hooks.FileChanged: is not supported yet: Nobody watches files on the disk yet. PostToolUse comes after each call.',
    ],
    [
      'an event without a meaning',
      { Setup: [] },
      'hooks.Setup: has no meaning here: Muster has no separate run that sets up a project.',
    ],
    ['no list of groups', { Stop: {} }, 'hooks.Stop: must be a list'],
    [
      'a group that is a text',
      { Stop: ['x'] },
      'hooks.Stop[0]: must be an object with "matcher" and "hooks"',
    ],
    [
      'a matcher that is a number',
      { Stop: [{ matcher: 1, hooks: [command()] }] },
      'hooks.Stop[0].matcher: must be a text, so its hooks are not run',
    ],
    [
      'a matcher that is no regular expression',
      { Stop: [{ matcher: '(', hooks: [command()] }] },
      'hooks.Stop[0].matcher: is neither a list of names nor a regular expression, so its hooks are not run',
    ],
    ['a group without hooks', { Stop: [{}] }, 'hooks.Stop[0].hooks: must be a list of hooks'],
    [
      'a hook that is null',
      { Stop: [{ hooks: [null] }] },
      'hooks.Stop[0].hooks[0]: must be an object with "type"',
    ],
    [
      'an event with control characters',
      { '\u001b[31m\n': [] },
      'hooks.⟨U+001B⟩[31m␊: is not an event, so its hooks are not run',
    ],
  ])('is a problem: %s', (_, value, problem) => {
    expect(readTestHooks(value, USER)).toEqual({ hooks: [], problems: [problem] });
  });

  it.each<[string, JsonValue, string]>([
    [
      'no type',
      { command: 'x' },
      `${AT}.type: must be "command", "http", "mcp_tool", "prompt" or "agent", so the hook is not run`,
    ],
    [
      'an empty prompt',
      { type: 'prompt', prompt: ' ' },
      `${AT}.prompt: must be a text, so the hook is not run`,
    ],
    [
      'an agent without a question',
      { type: 'agent' },
      `${AT}.prompt: must be a text, so the hook is not run`,
    ],
    [
      'a tool without a server',
      { type: 'mcp_tool', tool: 'x' },
      `${AT}.server: must be a name, so the hook is not run`,
    ],
    [
      'a tool with a text as input',
      { type: 'mcp_tool', server: 's', tool: 'x', input: 'y' },
      `${AT}.input: must be an object, so the hook is not run (limit hook_text_characters = 20000)`,
    ],
    ['no command', { type: 'command' }, `${AT}.command: must be a command, so the hook is not run`],
    [
      'PowerShell',
      command({ shell: 'powershell' }),
      `${AT}.shell: must be "bash", so the hook is not run`,
    ],
    [
      'wrong arguments',
      command({ args: [1] }),
      `${AT}.args: must be a list of texts, so the hook is not run (limits hook_list_items = 100, hook_text_characters = 20000)`,
    ],
    [
      'a file address',
      http({ url: 'file:///etc/passwd' }),
      `${AT}.url: must be an address with http:// or https://, so the hook is not run`,
    ],
    [
      'wrong headers',
      http({ headers: { a: 1 } }),
      `${AT}.headers: must be an object of texts, so the hook is not run (limits hook_list_items = 100, hook_text_characters = 20000)`,
    ],
  ])('keeps a hook from running: %s', (_, hook, problem) => {
    expect(readOne(hook)).toEqual({ hooks: [], problems: [problem] });
  });

  it.each<[string, JsonValue, object, string]>([
    ['a field', command({ nope: 1 }), {}, `${AT}.nope: is not known and has no effect`],
    [
      'a condition that is no rule',
      command({ if: '(git *)' }),
      { condition: { text: '(git *)', rules: [], allowing: [] } },
      `${AT}.if: it must start with a tool name, as in \`Bash(npm test)\`, ${ALWAYS}`,
    ],
    [
      'a condition that is no text',
      command({ if: ['Bash(git *)'] }),
      { condition: { text: '?', rules: [], allowing: [] } },
      `${AT}.if: must be a text with one permission rule, ${ALWAYS}`,
    ],
    [
      'a time of 0',
      command({ timeout: 0 }),
      {},
      `${AT}.timeout: must be a number of seconds above 0, so 600 s count`,
    ],
    [
      'a time in milliseconds',
      command({ timeout: 60_000 }),
      { timeoutMs: 3_600_000 },
      `${AT}.timeout: is longer than allowed and counted in seconds, so 3600 s count (limit hook_timeout_seconds = 3600)`,
    ],
    ['a flag', command({ once: 'yes' }), {}, `${AT}.once: must be true or false, so false counts`],
    [
      'the rule for failures',
      command({ onFailure: 'deny' }),
      { blocksOnFailure: true },
      `${AT}.onFailure: must be "continue" or "block", so "block" counts`,
    ],
    ['a status message', command({ statusMessage: 5 }), {}, `${AT}.statusMessage: must be a text`],
  ])('leaves the hook at work: %s', (_, hook, expected, problem) => {
    expect(readOne(hook)).toEqual({
      hooks: [{ ...DEFAULTS, action: COMMAND, ...expected }],
      problems: [problem],
    });
  });
});

it('reads the flags of a command that nobody waits for, and of no other hook', () => {
  const read = (hook: JsonObject) =>
    readTestHooks({ Stop: [{ hooks: [hook] }] }).hooks.map(({ isAsync, isRewaking }) => [
      isAsync,
      isRewaking,
    ]);
  expect(read({ type: 'command', command: 'a', async: true })).toEqual([[true, false]]);
  expect(read({ type: 'command', command: 'a', asyncRewake: true })).toEqual([[true, true]]);
  expect(read({ type: 'prompt', prompt: 'a', async: true, asyncRewake: true })).toEqual([
    [false, false],
  ]);
});

it('reads a condition, which has a meaning only at events of calls', () => {
  const hook = command({ if: 'Bash(git *)' });
  const rule = {
    text: 'Bash(git *)',
    tool: 'Bash',
    specifier: 'git *',
    source: { kind: 'config', where: USER.where },
  };
  expect(readOne(hook)).toEqual({
    hooks: [
      {
        ...DEFAULTS,
        action: COMMAND,
        condition: { text: 'Bash(git *)', rules: [rule], allowing: [rule] },
      },
    ],
    problems: [],
  });
  expect(readTestHooks({ Stop: [{ hooks: [hook] }] })).toEqual({
    hooks: [],
    problems: ['hooks.Stop[0].hooks[0].if: has no meaning at Stop, so the hook is not run'],
  });
});

it('reads a call of a tool', () => {
  const call = { server: 's', tool: 'x', input: { path: '${tool_input.file_path}' } };
  const bare = { server: 's', tool: 'x' };
  const hooks = [
    { type: 'mcp_tool', ...call },
    { type: 'mcp_tool', ...bare },
  ];
  const read = readTestHooks({ UserPromptSubmit: [{ hooks }] });
  expect(read.problems).toEqual([]);
  expect(read.hooks.map(({ action, timeoutMs }) => ({ action, timeoutMs }))).toEqual([
    { action: { kind: 'mcp_tool', ...call }, timeoutMs: 30_000 },
    { action: { kind: 'mcp_tool', ...bare, input: {} }, timeoutMs: 30_000 },
  ]);
});

it('reads questions to a model and to a subagent, which has more time', () => {
  const question = { prompt: 'Is it done?' };
  const hooks = [
    { type: 'prompt', ...question },
    { type: 'agent', ...question, model: 'balanced' },
    { type: 'agent', ...question, timeout: 120 },
  ];
  const read = readTestHooks({ Stop: [{ hooks }] });
  expect(read.problems).toEqual([]);
  expect(read.hooks.map(({ action, timeoutMs }) => ({ action, timeoutMs }))).toEqual([
    { action: { kind: 'prompt', ...question }, timeoutMs: 30_000 },
    { action: { kind: 'agent', ...question, model: 'balanced' }, timeoutMs: 60_000 },
    { action: { kind: 'agent', ...question }, timeoutMs: 120_000 },
  ]);
  expect(readTestHooks({ Notification: [{ hooks: [{ type: 'agent', ...question }] }] })).toEqual({
    hooks: [],
    problems: [
      'hooks.Notification[0].hooks[0].type: "agent" does not run at Notification, so the hook is not run',
    ],
  });
});

it('gives the headers of a project no variables', () => {
  const hook = http({ headers: { A: '$KEY' }, allowedEnvVars: ['KEY'] });
  expect(readOne(hook, PROJECT)).toEqual({
    hooks: [{ ...DEFAULTS, source: PROJECT, action: { ...HTTP, headers: { A: '$KEY' } } }],
    problems: [
      `${AT}.allowedEnvVars: counts only in the user's own settings, so the headers get no variables`,
    ],
  });
});

it('limits hooks, texts and problems, and names the limits', () => {
  const many = readTestHooks(
    { Stop: [{ hooks: Array.from({ length: 103 }, () => command()) }] },
    USER,
  );
  expect(many.hooks).toHaveLength(100);
  expect(many.problems).toEqual([
    'hooks.Stop[0].hooks[100]: this hook and the next ones are not run (limit hook_count = 100)',
  ]);
  expect(readOne(command({ command: 'x'.repeat(20_001) }))).toEqual({
    hooks: [],
    problems: [
      `${AT}.command: is too long (limit hook_text_characters = 20000)`,
      `${AT}.command: must be a command, so the hook is not run`,
    ],
  });
  const { problems } = readTestHooks({ Stop: Array.from({ length: 60 }, () => 1) }, USER);
  expect(problems.slice(49)).toEqual([
    'hooks.Stop[49]: must be an object with "matcher" and "hooks"',
    'hooks: there are 10 more problems',
  ]);
});

it('knows a meaning for every event, and exactly the events of the port act', () => {
  const acting = [...HOOK_EVENT_SUPPORT].filter(([, { support }]) => support === 'acts');
  expect(new Set(acting.map(([event]) => event))).toEqual(new Set(HOOK_EVENTS));
  expect(HOOK_EVENT_SUPPORT.size).toBe(34);
});
