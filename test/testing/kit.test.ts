import { AssertionError } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { userMessage } from '../../src/protocol/message.ts';
import { NO_USAGE } from '../../src/protocol/model.ts';
import {
  expectCalls,
  expectChildren,
  expectLimits,
  expectRefusals,
  recordLog,
  scriptedModel,
  startFakeModel,
  type Answer,
  type ScriptedModelAnswer,
} from '../../src/testing/index.ts';
import { open } from '../library/support.ts';
import { collect, request } from '../model/adapters/support.ts';

const ASKED = request([userMessage('Hi')]);
const partsOf = (answer: ScriptedModelAnswer) => collect(scriptedModel([answer]), ASKED);
const failure = (kind: string, more: object) => ({
  type: 'failed',
  failure: expect.objectContaining({ kind, ...more }),
});
const accepted = { type: 'accepted' };
const finished = (content: readonly object[], reason: string) => ({
  type: 'finished',
  message: { role: 'assistant', content },
  usage: NO_USAGE,
  reason,
});

describe('scriptedModel', () => {
  it.each<[ScriptedModelAnswer, readonly object[]]>([
    [
      { fault: { kind: 'status', status: 429, message: 'slow', retryAfterSeconds: 2 } },
      [
        failure('rate_limit', {
          message: 'slow',
          retryable: true,
          status: 429,
          retryAfterMs: 2000,
        }),
      ],
    ],
    [{ fault: { kind: 'status', status: 401 } }, [failure('auth', { retryable: false })]],
    [{ fault: { kind: 'refuse' } }, [failure('connect', { retryable: true })]],
    [
      { text: 'a', fault: { kind: 'overloaded' } },
      [accepted, { type: 'text_delta', text: 'a' }, failure('overloaded', { retryable: true })],
    ],
    [{ text: 'a', fault: { kind: 'empty' } }, [accepted, finished([], 'stop')]],
    [
      { toolCalls: [{ name: 'LS', input: {}, id: 'c' }], fault: { kind: 'broken_tool_json' } },
      [
        accepted,
        { type: 'tool_call_started', id: 'c', name: 'LS' },
        finished(
          [{ type: 'tool_call', id: 'c', name: 'LS', input: '{', malformed: '{' }],
          'tool_calls',
        ),
      ],
    ],
    [
      { text: 'a', fault: { kind: 'length_stop' } },
      [
        accepted,
        { type: 'text_delta', text: 'a' },
        finished([{ type: 'text', text: 'a' }], 'length'),
      ],
    ],
  ])('shows the fault of %j as a model port does', async (answer, parts) => {
    expect(await partsOf(answer)).toEqual(parts);
  });

  it('ends a request that hangs when it is stopped, and refuses faults of bytes', async () => {
    const stop = new AbortController();
    const model = scriptedModel([{ fault: { kind: 'hang' } }]);
    const parts = Array.from([model.stream(ASKED, stop.signal)]);
    const read = (async () => {
      const seen = [];
      for (const stream of parts) for await (const part of stream) seen.push(part);
      return seen;
    })();
    stop.abort();
    expect(await read).toEqual([failure('cancelled', { retryable: false })]);
    await expect(partsOf({ fault: { kind: 'reset' } })).rejects.toThrow('use startFakeModel');
  });
});

/** The same answers for a scripted model and for the fake server. */
const ANSWERS: readonly Answer[] = [
  { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
  { text: 'There is nothing.', thinking: 'Hm.' },
];

describe('one script', () => {
  it('answers as a model and as a server', async () => {
    const server = await startFakeModel({ script: (asked) => ANSWERS[asked.id - 1] ?? {} });
    const models = [
      { model: scriptedModel(ANSWERS) },
      { model: 'anthropic/claude-sonnet-4-5', environment: server.env('anthropic') },
    ];
    for (const options of models) {
      const muster = await open(options);
      const run = muster.run('What is here?');
      const [log, { output }] = await Promise.all([recordLog(run), run]);
      expect(output).toBe('There is nothing.');
      expectCalls(log, [['LS', { path: '.' }]]);
    }
    await server.close();
  });
});

describe('the log of a run', () => {
  async function record() {
    const muster = await open({
      model: scriptedModel((asked) => {
        const texts = asked.messages.flatMap(({ role, content }) =>
          role === 'user' ? content.map((part) => part.text) : [],
        );
        const round = asked.messages.filter(({ role }) => role === 'assistant').length;
        if (texts.some((text) => text.includes('count the files'))) {
          return round === 0
            ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
            : { text: 'None.' };
        }
        const task = { subagent_type: 'Explore', description: 'count', prompt: 'count the files' };
        if (round === 2) return { text: 'That is all.' };
        return round === 0
          ? {
              toolCalls: [
                { name: 'Task', input: task },
                { name: 'Write', input: { file_path: 'a', content: 'a' } },
              ],
            }
          : { toolCalls: [{ name: 'LS', input: { path: '.' } }] };
      }),
    });
    return recordLog(muster.run('Delegate.', { budget: { turns: 2 } }));
  }

  it('has the events by task, the calls and the events of a type', async () => {
    const log = await record();
    const ids = log.ofType('task.created').map(({ task }) => task);
    expect([...log.byTask.keys()]).toEqual(ids);
    expect([...log.byTask.values()].flat()).toHaveLength(log.events.length);
    expect(log.calls.map(({ agent, tool, outcome }) => [agent, tool, outcome])).toEqual([
      ['main', 'Task', 'ended'],
      ['main', 'Write', 'refused'],
      ['Explore', 'LS', 'ended'],
      ['main', 'LS', 'ended'],
    ]);
  });

  it('passes the checks that hold, and shows the difference of those that do not', async () => {
    const log = await record();
    expectCalls(log, ['LS'], { agent: 'Explore' });
    expectCalls(log, ['Task', 'Write', 'LS', ['LS', { path: '.' }]]);
    expectChildren(log, ['Explore']);
    expectRefusals(log, ['Write']);
    expectLimits(log, ['max_turns']);
    const wrong: readonly [() => void, RegExp][] = [
      [() => expectCalls(log, ['Task']), /the calls are not as expected[^]*\+ +'Write'/],
      [
        () => expectCalls(log, [['LS', { path: 'src' }]], { agent: 'Explore' }),
        /the calls of Explore are not as expected[^]*\+ +path: '\.'[^]*- +path: 'src'/,
      ],
      [() => expectChildren(log, []), /agents of the children[^]*\+ +'Explore'/],
      [() => expectRefusals(log, ['Bash']), /refused calls[^]*- +'Bash'/],
      [() => expectLimits(log, []), /limits that were reached[^]*'max_turns'/],
    ];
    for (const [check, message] of wrong) {
      expect(check).toThrow(AssertionError);
      expect(check).toThrow(message);
      // A test runner shows the difference of these two, which the message has already.
      expect(check).toThrow(expect.objectContaining({ actual: undefined, expected: undefined }));
    }
  });
});
