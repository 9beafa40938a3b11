import { expect, it } from 'vitest';
import { dropMissing } from '../../src/base/drop-missing.ts';
import { askHookQuestion } from '../../src/hooks/ask-question.ts';
import type { AskHookModel } from '../../src/protocol/hook.ts';

const FOREVER = new AbortController().signal;

function run(
  prompt: string,
  ask: AskHookModel | undefined,
  { input = '{"a":1}', timeoutMs = 5_000 } = {},
) {
  return askHookQuestion({
    action: { kind: 'prompt', prompt },
    input,
    timeoutMs,
    signal: FOREVER,
    ...dropMissing({ ask }),
  });
}

const answers =
  (text: string): AskHookModel =>
  async () => ({ ok: true, text, sources: [] });
const exited = (stdout: string) => ({ kind: 'exited', code: 0, signal: null, stdout, stderr: '' });
const NOT_UNDERSTOOD = { kind: 'failed', reason: 'the model did not answer with {"ok": …}' };

it.each([
  ['{"ok": true}', exited('')],
  ['{"ok": true, "reason": "fine"}', exited('')],
  [
    '```json\n{"ok": false, "reason": "no tests"}\n```',
    exited('{"decision":"block","reason":"no tests"}'),
  ],
  ['{"ok": false}', exited('{"decision":"block","reason":"The hook gave no reason."}')],
  ['{"ok": "false"}', NOT_UNDERSTOOD],
  ['I object.', NOT_UNDERSTOOD],
  ['} {', NOT_UNDERSTOOD],
  ['', NOT_UNDERSTOOD],
])('the answer %j', async (text, expected) => {
  expect(await run('Rule', answers(text))).toEqual(expected);
});

it('puts the input in place of $ARGUMENTS, or after the question', async () => {
  const prompts: string[] = [];
  const ask: AskHookModel = async ({ prompt }) => {
    prompts.push(prompt);
    return { ok: true, text: '{"ok":true}', sources: [] };
  };
  await run('A $ARGUMENTS B $ARGUMENTS', ask, { input: '{"x":"$&$1"}' });
  await run('Rule', ask);
  await run('Rule $ARGUMENTS', ask, { input: 'x'.repeat(50_001) });
  expect(prompts).toEqual([
    'A {"x":"$&$1"} B {"x":"$&$1"}',
    'Rule\n\n{"a":1}',
    `Rule ${'x'.repeat(50_000)}… (cut: limit hook_prompt_characters = 50000)`,
  ]);
});

it('fails without an answer, and allows nothing', async () => {
  expect(await run('Rule', undefined)).toEqual({
    kind: 'failed',
    reason: 'it was not asked: a model answers only in a task',
  });
  const refuses: AskHookModel = async () => ({ ok: false, problem: 'limit tree_tokens' });
  expect(await run('Rule', refuses)).toEqual({
    kind: 'failed',
    reason: 'the model did not answer: limit tree_tokens',
  });
  const hangs: AskHookModel = (_, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  expect(await run('Rule', hangs, { timeoutMs: 20 })).toEqual({ kind: 'timeout', limitMs: 20 });
});
