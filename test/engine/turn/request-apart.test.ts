import { describe, expect, it } from 'vitest';
import type { ModelDetails } from '../../../src/protocol/model.ts';
import { NO_ACCESS } from '../../../src/protocol/permission.ts';
import { sumLedger } from '../../../src/protocol/state/ledger.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { call, calls, eventsOfType, play, requestsOf, textsOf } from '../play.ts';
import { statesOf, testEngine, type EngineSetup } from '../support.ts';

const PRICED: ModelDetails = {
  contextWindow: null,
  maxOutput: 100,
  price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, source: 'test', asOf: '2026-01-01' },
};

/** A tool that asks a model the question in its input. It has the name of a core tool, so that tasks get it. */
const askTool: AnyTool = {
  name: 'LS',
  kind: 'read',
  replay: 'pure',
  description: 'ask',
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => NO_ACCESS,
  run: async ({ question }: { readonly question: string }, { askModel }) => {
    const answer = await askModel?.({ system: 'Answer.', prompt: question, purpose: 'a test' });
    if (answer === undefined) return { text: 'no port' };
    return { text: answer.ok ? answer.text : `none: ${answer.problem}` };
  },
};

const ASKS = { main: [calls(call('LS', { question: 'why is it so' }))] };

async function runAsking(parts: Parameters<typeof play>[0], setup: EngineSetup = {}) {
  const test = testEngine(play({ ...ASKS, ...parts }), { tools: [askTool], ...setup });
  await test.start('main go').end.written;
  const [ended] = eventsOfType(test, 'call.ended');
  return { test, ended, requests: eventsOfType(test, 'request.ended') };
}

describe('a request that a call sends apart from the conversation', () => {
  it('goes to the fast model without tools, and is recorded and counted', async () => {
    const usage = { input: 1_000, output: 50 };
    const { test, ended, requests } = await runAsking(
      { why: [{ text: ' because ', usage }] },
      { facts: async () => PRICED },
    );
    expect(ended?.text).toBe('because');
    const [sent] = requestsOf(test, 'why');
    expect(sent).toMatchObject({
      model: { id: 'fast' },
      prefix: { system: ['Answer.'], tools: [] },
      maxOutputTokens: 4_096,
      toolChoice: 'auto',
    });
    expect(textsOf(sent)).toEqual(['why is it so']);
    expect(requests).toEqual([
      {
        ...requests[0],
        type: 'request.ended',
        callId: ended?.callId,
        purpose: 'a test',
        failure: null,
        model: 'scripted/fast',
        usage: { ...usage, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        costUsd: 0.001_05,
        ms: expect.any(Number),
      },
    ]);
    const [state] = statesOf(test.events).values();
    expect(sumLedger(state?.ledger ?? [], { isEstimated: false })).toMatchObject({
      answers: 3,
      costUsd: 0.001_05,
    });
    expect(state?.activation.spent.tokens).toBe(1_050);
    expect(state?.turns).toBe(2);
  });

  it('is not sent if the budget has no room for it, and the call is told so', async () => {
    const { test, ended, requests } = await runAsking(
      {},
      {
        settings: {
          rootLimits: { maxTurns: null, maxTokens: 4_000, wallMs: null, resultMaxTokens: 2_000 },
        },
      },
    );
    expect(ended?.text).toMatch(/^none: the limit max_tokens = 4000 leaves no room/);
    expect([requestsOf(test, 'why'), requests]).toEqual([[], []]);
  });

  it('is sent again like a turn after a failure that may pass', async () => {
    const failure = { kind: 'server', message: 'busy', retryable: true } as const;
    const answers = [{ failure }, { text: 'because' }];
    const test = testEngine(
      (request, index) =>
        index === 0
          ? calls(call('LS', { question: 'why' }))
          : request.prefix.tools.length === 0
            ? (answers.shift() ?? {})
            : { text: 'done' },
      { tools: [askTool] },
    );
    await test.start('main go').end.written;
    expect(eventsOfType(test, 'call.ended')[0]?.text).toBe('because');
    expect(eventsOfType(test, 'request.ended').map((each) => each.failure?.message)).toEqual([
      'busy',
      undefined,
    ]);
  });

  it.each([
    ['the fast model', ['fast', 'main'], 'fast'],
    ["the task's own model", ['main'], 'main'],
    ['no model', [], null],
  ] as const)(
    'that needs a search goes to %s if only its provider can search',
    async (_, able, sentTo) => {
      const searchTool: AnyTool = {
        ...askTool,
        run: async (_input: unknown, { askModel }) => {
          const webSearch = { allowedDomains: [], blockedDomains: [] };
          const answer = await askModel?.({
            system: '',
            prompt: 'why',
            purpose: 'a test',
            webSearch,
          });
          return { text: answer?.ok === false ? answer.problem : 'found' };
        },
      };
      const { test, ended } = await runAsking(
        { why: [{ text: 'because' }] },
        {
          tools: [searchTool],
          canSearchWeb: ({ id }) => able.some((name) => (name === 'fast') === (id === 'fast')),
        },
      );
      const sent = requestsOf(test, 'why').map(({ model }) =>
        model.id === 'fast' ? 'fast' : 'main',
      );
      expect(sent).toEqual(sentTo === null ? [] : [sentTo]);
      expect(ended?.text).toMatch(
        sentTo === null ? /^neither the fast model nor .* search/ : /^found$/,
      );
    },
  );

  it('tells the call why it failed for good', async () => {
    const failure = { kind: 'auth', message: 'no such key', retryable: false } as const;
    const { ended, requests } = await runAsking({ why: [{ failure, refused: true }] });
    expect(ended?.text).toBe('none: no such key');
    expect(requests).toMatchObject([{ failure: { kind: 'auth' } }]);
  });

  it('ends with the call when the task is stopped', async () => {
    const test = testEngine(play({ ...ASKS, why: [{ delayMs: 600_000 }] }), { tools: [askTool] });
    const run = test.start('main go');
    while (requestsOf(test, 'why').length === 0) await new Promise(setImmediate);
    run.stop(stopOrder('user', 'enough'));
    await run.end.written;
    expect(eventsOfType(test, 'task.ended')).toMatchObject([{ end: { status: 'stopped' } }]);
  });
});
