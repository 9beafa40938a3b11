import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import {
  readHookOutput,
  type HookEnd,
  type HookReading,
} from '../../src/hooks/read-hook-output.ts';
import { HOOK_EVENTS, type HookEventName } from '../../src/protocol/hook.ts';

type Exit = Extract<HookEnd, { kind: 'exited' }>;

function exited(end: Partial<Exit>): Exit {
  return { kind: 'exited', code: 0, signal: null, stdout: '', stderr: '', ...end };
}

function read(end: HookEnd, reading: Partial<HookReading> = {}) {
  return readHookOutput(end, {
    event: 'PreToolUse',
    mayAllow: true,
    blocksOnFailure: false,
    ...reading,
  });
}

/** Reads JSON that a hook printed. */
function readJson(value: JsonValue, reading: Partial<HookReading> = {}) {
  return read(exited({ stdout: `${JSON.stringify(value)}\n` }), reading);
}

/** The JSON of a hook about a call. */
function preToolUse(fields: Record<string, JsonValue>) {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } };
}

const OK = { outcome: 'ok', code: 0 };

describe('an exit code', () => {
  it.each<[HookEventName, object]>([
    ['PreToolUse', { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } }],
    ['PermissionRequest', { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } }],
    ['UserPromptSubmit', { outcome: 'blocked', block: 'no' }],
    ['Stop', { outcome: 'blocked', block: 'no' }],
    ['SubagentStop', { outcome: 'blocked', block: 'no' }],
    ['PreCompact', { outcome: 'blocked', block: 'no' }],
    ['PostToolBatch', { outcome: 'blocked', block: 'no' }],
    ['PostCompact', { outcome: 'failed', message: 'no' }],
    ['PostToolUse', { outcome: 'ok', context: 'no' }],
    ['PostToolUseFailure', { outcome: 'ok', context: 'no' }],
    ['SessionStart', { outcome: 'failed', message: 'no' }],
    ['SubagentStart', { outcome: 'failed', message: 'no' }],
    ['Notification', { outcome: 'failed', message: 'no' }],
    ['SessionEnd', { outcome: 'failed', message: 'no' }],
  ])('of 2 at %s refuses what can be refused', (event, expected) => {
    // With this code, only stderr counts.
    const stdout = JSON.stringify(preToolUse({ permissionDecision: 'allow' }));
    const end = exited({ code: 2, stderr: ' no\n', stdout });
    expect(read(end, { event })).toEqual({ code: 2, ...expected });
  });

  it('of 2 without a reason still refuses', () => {
    expect(read(exited({ code: 2 }))).toEqual({
      outcome: 'blocked',
      code: 2,
      verdict: { verdict: 'deny', reason: 'A hook refused this without a reason.' },
    });
  });

  it.each([1, 3, 4, 5, 126, 127, 130])('of %i is a failure that refuses nothing', (code) => {
    const stdout = JSON.stringify(preToolUse({ permissionDecision: 'allow' }));
    expect(read(exited({ code, stderr: 'oh\nno', stdout }))).toEqual({
      outcome: 'failed',
      code,
      message: `it exited with code ${code}: oh␊no`,
    });
  });

  it.each<[string, HookEnd, object]>([
    [
      'a signal',
      exited({ code: null, signal: 'SIGSEGV' }),
      { outcome: 'failed', code: null, message: 'it was ended by SIGSEGV' },
    ],
    [
      'the end of its time',
      { kind: 'timeout', limitMs: 1_500 },
      {
        outcome: 'timeout',
        code: null,
        message: 'it was ended after 1.5 s, the time that its settings give it (timeout)',
      },
    ],
    [
      'a failed start',
      { kind: 'failed', reason: 'it could not start' },
      { outcome: 'failed', code: null, message: 'it could not start' },
    ],
    [
      'an error of a server',
      { kind: 'answered', status: 500, body: '{"decision":"block"}' },
      { outcome: 'failed', code: 500, message: 'the server answered with the status 500' },
    ],
  ])('is replaced by %s', (_, end, expected) => {
    expect(read(end)).toEqual(expected);
  });
});

describe('events at which a person or another model is involved', () => {
  const specific = (hookEventName: HookEventName, fields: JsonObject) =>
    exited({ stdout: JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } }) });
  const refused = { outcome: 'blocked', code: 0, block: 'A hook gave no reason.' };

  it.each<[HookEventName, JsonObject, object]>([
    ['Elicitation', { action: 'decline' }, refused],
    ['Elicitation', { action: 'cancel' }, refused],
    [
      'Elicitation',
      { action: 'accept', content: { name: 'me' } },
      { ...OK, message: 'it answered the server, which only a person may do' },
    ],
    ['ElicitationResult', { action: 'decline', content: {} }, refused],
    ['PreModelSwitch', { permissionDecision: 'allow' }, OK],
    [
      'PreModelSwitch',
      { permissionDecision: 'deny', permissionDecisionReason: 'too dear' },
      { ...refused, block: 'too dear' },
    ],
    [
      'PreModelSwitch',
      { permissionDecision: 'ask' },
      { ...OK, message: 'it wanted a person to be asked, which does not happen here' },
    ],
    ['PostModelSwitch', { additionalContext: 'hi' }, { ...OK, context: 'hi' }],
    ['UserPromptExpansion', { additionalContext: 'hi' }, { ...OK, context: 'hi' }],
  ])('%s with %j', (event, fields, expected) => {
    expect(read(specific(event, fields), { event })).toEqual(expected);
  });

  it.each(['Elicitation', 'ElicitationResult', 'PreModelSwitch', 'UserPromptExpansion'] as const)(
    'the exit code 2 refuses %s',
    (event) => {
      expect(read(exited({ code: 2, stderr: 'no' }), { event })).toMatchObject({ block: 'no' });
    },
  );

  it('nothing refuses a context file or a model that is used already', () => {
    for (const event of ['InstructionsLoaded', 'PostModelSwitch'] as const)
      expect(read(exited({ code: 2, stderr: 'no' }), { event })).toMatchObject({
        outcome: 'failed',
        message: 'no',
      });
  });
});

describe('plain text', () => {
  it.each(HOOK_EVENTS)('at %s is context only where a conversation or prompt begins', (event) => {
    const isContext = [
      'SessionStart',
      'UserPromptExpansion',
      'UserPromptSubmit',
      'PostModelSwitch',
    ].includes(event);
    const expected = isContext ? { ...OK, context: 'hello' } : OK;
    expect(read(exited({ stdout: 'hello\n' }), { event })).toEqual(expected);
    expect(read({ kind: 'answered', status: 200, body: 'hello' }, { event })).toEqual({
      ...expected,
      code: 200,
    });
  });

  it('loses control characters, and its end beyond the limit', () => {
    const event = 'SessionStart';
    expect(read(exited({ stdout: 'a\u001b[31mb\u0000c' }), { event })).toEqual({
      ...OK,
      context: 'abc',
    });
    const message =
      'its context was cut to 10000 characters (limit hook_context_characters = 10000)';
    expect(read(exited({ stdout: 'x'.repeat(10_001) }), { event })).toEqual({
      ...OK,
      context: `${'x'.repeat(10_000)}\n[${message}]`,
      message,
    });
  });
});

describe('JSON about a call', () => {
  it.each<[string, JsonValue, object]>([
    ['nothing', {}, {}],
    ['suppressed output', { suppressOutput: true, continue: true }, {}],
    [
      'a denial',
      preToolUse({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
      { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } },
    ],
    [
      'a question',
      preToolUse({ permissionDecision: 'ask' }),
      { verdict: { verdict: 'ask', reason: 'A hook gave no reason.' } },
    ],
    [
      'a permission with new input and context',
      preToolUse({
        permissionDecision: 'allow',
        permissionDecisionReason: 'fine',
        updatedInput: { command: 'ls -l' },
        additionalContext: 'note',
      }),
      {
        verdict: { verdict: 'allow', reason: 'fine' },
        updatedInput: { command: 'ls -l' },
        context: 'note',
      },
    ],
    [
      'a deferral',
      preToolUse({ permissionDecision: 'defer' }),
      {
        verdict: { verdict: 'ask', reason: 'A hook gave no reason.' },
        message: 'it wanted to defer the decision, so a person is asked',
      },
    ],
    [
      'the old approval',
      { decision: 'approve', reason: 'ok' },
      { verdict: { verdict: 'allow', reason: 'ok' } },
    ],
    [
      'the old refusal',
      { decision: 'block', reason: 'no' },
      { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } },
    ],
    [
      'a permission and the old refusal',
      { decision: 'block', reason: 'no', ...preToolUse({ permissionDecision: 'allow' }) },
      { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } },
    ],
    [
      'the end of the task',
      { continue: false, stopReason: 'enough' },
      { outcome: 'blocked', stop: 'enough' },
    ],
    [
      'the end without a reason',
      { continue: false },
      { outcome: 'blocked', stop: 'A hook ended the task.' },
    ],
    ['a message', { systemMessage: 'look\u001b[2J\nhere' }, { message: 'look⟨U+001B⟩[2J␊here' }],
    [
      'unknown fields',
      { terminalSequence: '\u0007', ...preToolUse({ nope: 1 }) },
      { message: 'it set fields that have no effect: terminalSequence, nope' },
    ],
  ])('with %s', (_, value, expected) => {
    expect(readJson(value)).toEqual({ ...OK, ...expected });
  });

  it('of a hook that may not allow allows nothing, and the rest counts', () => {
    const message =
      "it allowed the call, which only a hook of the user's own settings for this tool may do";
    const value = preToolUse({
      permissionDecision: 'allow',
      updatedInput: { a: 1 },
      additionalContext: 'note',
    });
    expect(readJson(value, { mayAllow: false })).toEqual({
      ...OK,
      ignoredAllow: true,
      updatedInput: { a: 1 },
      context: 'note',
      message,
    });
  });

  it.each<[string, JsonValue, object]>([
    [
      'permission',
      { behavior: 'allow', updatedInput: { a: 1 } },
      { verdict: { verdict: 'allow', reason: 'A hook gave no reason.' }, updatedInput: { a: 1 } },
    ],
    [
      'refusal',
      { behavior: 'deny', message: 'no' },
      { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' } },
    ],
    [
      'refusal that ends the task',
      { behavior: 'deny', message: 'no', interrupt: true },
      { outcome: 'blocked', verdict: { verdict: 'deny', reason: 'no' }, stop: 'no' },
    ],
    [
      'change of rules',
      { behavior: 'deny', updatedPermissions: [] },
      {
        outcome: 'blocked',
        verdict: { verdict: 'deny', reason: 'A hook gave no reason.' },
        message: 'it wanted to change permission rules, which no hook can do',
      },
    ],
  ])('answers a question with a %s', (_, decision, expected) => {
    const value = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
    expect(readJson(value, { event: 'PermissionRequest' })).toEqual({ ...OK, ...expected });
  });
});

it.each<[HookEventName, object]>([
  ['UserPromptSubmit', { outcome: 'blocked', block: 'no', context: 'more' }],
  ['Stop', { outcome: 'blocked', block: 'no', context: 'more' }],
  ['PostToolUse', { context: 'no\n\nmore' }],
])('JSON with a refusal at %s', (hookEventName, expected) => {
  const value = {
    decision: 'block',
    reason: 'no',
    hookSpecificOutput: { hookEventName, additionalContext: 'more' },
  };
  expect(readJson(value, { event: hookEventName })).toEqual({ ...OK, ...expected });
});

describe('JSON that is not as it must be', () => {
  const failed = (message: string) => ({ outcome: 'failed', code: 0, message });

  it.each([
    ['{"a":', 'it printed something that begins like JSON and is not valid JSON'],
    ['{} {}', 'it printed something that begins like JSON and is not valid JSON'],
    ['{"a":"\u0000"}', 'it printed something that begins like JSON and is not valid JSON'],
    [
      `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
      'it printed something that begins like JSON and is not valid JSON',
    ],
  ])('fails: %j', (stdout, message) => {
    expect(read(exited({ stdout }))).toEqual(failed(message));
  });

  it.each<[JsonValue, string]>([
    [
      preToolUse({ permissionDecision: 'yes' }),
      'hookSpecificOutput.permissionDecision is not one of allow, ask, deny, defer',
    ],
    [
      preToolUse({ permissionDecision: 'allow', updatedInput: [] }),
      'hookSpecificOutput.updatedInput is not an object',
    ],
    [
      { ...preToolUse({ permissionDecision: 'allow', updatedInput: {} }), continue: 'no' },
      'continue is not true or false',
    ],
    [
      { hookSpecificOutput: { hookEventName: 'Stop', permissionDecision: 'allow' } },
      'hookSpecificOutput.hookEventName is not one of PreToolUse, BeforeTool',
    ],
  ])('allows and changes nothing: %j', (value, problem) => {
    expect(readJson(value)).toEqual(failed(`only refusals count, because ${problem}`));
  });

  it('still refuses', () => {
    const value = { ...preToolUse({ permissionDecision: 'deny' }), systemMessage: 5 };
    expect(readJson(value)).toEqual({
      outcome: 'blocked',
      code: 0,
      verdict: { verdict: 'deny', reason: 'A hook gave no reason.' },
      message: 'only refusals count, because systemMessage is not a text',
    });
  });
});

describe('a failure of a hook that has to succeed', () => {
  const end = exited({ code: 1 });
  const why = 'it exited with code 1';
  const reason = `The hook has failed, and its settings refuse this in that case: ${why}`;

  it.each<[HookEventName, object]>([
    ['PreToolUse', { outcome: 'blocked', verdict: { verdict: 'deny', reason } }],
    ['UserPromptSubmit', { outcome: 'blocked', block: reason }],
    ['PostToolUse', { outcome: 'failed', context: reason }],
    ['SessionEnd', { outcome: 'failed' }],
    ['Stop', { outcome: 'failed' }],
    ['SubagentStop', { outcome: 'failed' }],
  ])('counts at %s', (event, expected) => {
    const reply = read(end, { event, blocksOnFailure: true });
    expect(reply).toEqual({ code: 1, message: why, ...expected });
  });
});

it('never allows anything for a hook that may not allow, and never throws', () => {
  const words = fc.constantFrom('allow', 'ask', 'deny', 'approve', 'block', 'PreToolUse', 'x');
  const leaf = fc.oneof(words, fc.boolean(), fc.constant(null), fc.integer());
  const call = fc.record(
    {
      hookEventName: words,
      permissionDecision: leaf,
      decision: fc.oneof(
        leaf,
        fc.record({ behavior: leaf, interrupt: leaf }, { requiredKeys: [] }),
      ),
      updatedInput: fc.oneof(leaf, fc.dictionary(fc.string(), leaf)),
      additionalContext: leaf,
    },
    { requiredKeys: [] },
  );
  const output = fc.record(
    { continue: leaf, decision: leaf, reason: leaf, hookSpecificOutput: fc.oneof(leaf, call) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        output.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      fc.constantFrom(...HOOK_EVENTS),
      fc.constantFrom(0, 1, 2, 3, null),
      (stdout, event, code) => {
        const reply = read(exited({ stdout, code }), { event, mayAllow: false });
        expect(reply.verdict?.verdict).not.toBe('allow');
        if (reply.outcome === 'failed') expect(reply.updatedInput).toBeUndefined();
      },
    ),
  );
});
