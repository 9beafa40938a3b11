import { describe, expect, it } from 'vitest';
import {
  assertAppendOnly,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type Fault,
  type FakeModel,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import type { EventType } from '../../src/protocol/events/event.ts';
import { envelopeOf, eventsOf, type Finished } from './muster.ts';
import { bash, lastResults, openWorld } from './world.ts';

const COUNT_A_LINE = bash('echo ran >> ran.txt; wc -l < ran.txt');
const RUN = ['-p', 'go', '--allow', 'Bash', '--output-format', 'stream-json'] as const;

/** Each request of a task goes on from the one before it, or is sent again as it was. */
function expectOnePrefix(model: FakeModel): void {
  for (const [index, later] of model.requests.entries()) {
    const earlier = model.requests[index - 1];
    if (earlier !== undefined) assertAppendOnly(earlier, later);
  }
}

function countOf(run: Finished, type: EventType): number {
  return eventsOf(run).filter((event) => event.type === type).length;
}

/** What the counting calls of all turns gave, as the last request tells them. */
function lastRequestResults(model: FakeModel): readonly string[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  return messages.flatMap(({ toolResults }) =>
    toolResults.map(({ text }) => text.split('\n')[0]?.trim() ?? ''),
  );
}

/** What goes away by asking again. */
const PASSING: Readonly<Record<string, Fault>> = {
  '429 with Retry-After': { kind: 'status', status: 429, retryAfterSeconds: 0.1 },
  '500': { kind: 'status', status: 500 },
  '503 with a page that is no JSON': { kind: 'status', status: 503, body: '<h1>Busy</h1>' },
  '529': { kind: 'status', status: 529 },
  'a connection that is closed before the answer': { kind: 'refuse' },
  'a reset in the middle of the stream': { kind: 'reset' },
  'a stream that ends in the middle of an event': { kind: 'half_event' },
  'an event that is no JSON': { kind: 'malformed_frame' },
  'an error inside the stream': { kind: 'overloaded' },
};

/** Where an event ends each answer, an answer without it has broken off. */
const HAS_END_EVENT: ReadonlySet<WireProtocol> = new Set<WireProtocol>(['anthropic', 'responses']);

function passingFaults(protocol: WireProtocol): readonly Fault[] {
  const faults = Object.values(PASSING);
  return HAS_END_EVENT.has(protocol) ? [...faults, { kind: 'truncate' }] : faults;
}

/**
 * A turn for each fault, that calls a tool which counts how often it ran, then the answer. Each
 * request goes wrong when it comes for the first time, the answer's with the last fault.
 */
function faultyTurns(faults: readonly Fault[]): (request: RecordedRequest) => Answer {
  return (request) => {
    const round = toolResultRounds(request);
    const fault = request.attempt === 1 ? (faults[round] ?? faults.at(-1)) : undefined;
    const answer: Answer =
      round < faults.length
        ? { text: `Turn ${round}.`, toolCalls: [COUNT_A_LINE], chunks: 4 }
        : { text: 'All went well.', chunks: 4 };
    return fault === undefined ? answer : { ...answer, fault };
  };
}

describe.concurrent.each(WIRE_PROTOCOLS)('over %s', (protocol) => {
  // Twenty-two requests and eleven shells: on a machine under load they take their time.
  it('what passes is asked again, in every turn, and no call runs twice', async () => {
    const faults = passingFaults(protocol);
    await using world = await openWorld({ protocol, script: faultyTurns(faults) });
    const run = await world.run([...RUN]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(envelopeOf(run)).toMatchObject({
      data: { status: 'completed', result: 'All went well.', turns: faults.length + 1 },
      error: null,
    });
    // Every request came twice, the second time the same to the byte.
    const { requests } = world.model;
    const seen = requests.map((request) => [toolResultRounds(request), request.attempt]);
    expect(seen).toEqual(
      faults
        .flatMap((_, n) => [
          [n, 1],
          [n, 2],
        ])
        .concat([
          [faults.length, 1],
          [faults.length, 2],
        ]),
    );
    for (const [index, request] of requests.entries()) {
      if (request.attempt === 2) expect(request.rawBody).toBe(requests[index - 1]?.rawBody);
    }
    expectOnePrefix(world.model);
    const told = lastRequestResults(world.model);
    expect(told).toEqual(faults.map((_, n) => String(n + 1)));
    expect(countOf(run, 'call.started')).toBe(faults.length);
    expect(countOf(run, 'turn.retried')).toBe(faults.length + 1);
  });

  describe('what the model gets wrong it is told', () => {
    it.each<readonly [string, Answer, RegExp]>([
      [
        'a tool that is not there',
        { toolCalls: [{ name: 'Teleport', input: { to: 'Mars' } }] },
        /Teleport/,
      ],
      ['an answer with nothing in it', { fault: { kind: 'empty' } }, /empty/],
      [
        'an argument of the wrong type',
        { toolCalls: [{ name: 'Bash', input: { command: 7 } }] },
        /command/,
      ],
      ['no arguments at all', { toolCalls: [{ name: 'Bash', input: {} }] }, /command/],
    ])('%s', async (_, wrong, told) => {
      let asked = 0;
      await using world = await openWorld({
        protocol,
        script: () => {
          asked += 1;
          return asked === 1 ? wrong : { text: 'I see.' };
        },
      });
      const run = await world.run([...RUN]);
      expect([run.code, run.stderr]).toEqual([0, '']);
      expect(envelopeOf(run).data.result).toBe('I see.');
      expect(world.model.requests.length).toBe(2);
      expectOnePrefix(world.model);
      expect(countOf(run, 'call.started')).toBe(0);
      const { text = '', toolResults = [] } = world.model.requests[1]?.messages.at(-1) ?? {};
      expect([text, ...toolResults.map((result) => result.text)].join('\n')).toMatch(told);
    });

    it('arguments that are no JSON', async () => {
      await using world = await openWorld({
        protocol,
        script: ({ id }) =>
          id === 1
            ? { toolCalls: [COUNT_A_LINE], fault: { kind: 'broken_tool_json' } }
            : { text: 'I see.' },
      });
      const run = await world.run([...RUN]);
      expect([run.code, envelopeOf(run).data.result]).toEqual([0, 'I see.']);
      expect(countOf(run, 'call.started')).toBe(0);
      expectOnePrefix(world.model);
      const [, second] = world.model.requests;
      expect(world.model.requests.length).toBe(2);
      // Google answers MALFORMED_FUNCTION_CALL and leaves the call out.
      if (protocol === 'google') expect(second?.attempt).toBe(2);
      else
        expect(lastResults(world.model)).toMatchObject([{ text: expect.stringMatching(/JSON/) }]);
    });

    it('calls with one and the same id each run once and each get their own result', async () => {
      await using world = await openWorld({
        protocol,
        script: (request) =>
          toolResultRounds(request) > 0
            ? { text: 'done' }
            : {
                toolCalls: [
                  bash('echo first >> ran.txt; echo first'),
                  bash('echo second >> ran.txt; echo second'),
                ],
                fault: { kind: 'duplicate_tool_ids' },
              },
      });
      const run = await world.run([...RUN]);
      expect(run.code).toBe(0);
      expect(countOf(run, 'call.started')).toBe(2);
      const results = lastResults(world.model);
      expect(results.map(({ text }) => text.split('\n')[0])).toEqual(['first', 'second']);
      expect(new Set(results.map(({ callId }) => callId)).size).toBe(2);
      expectOnePrefix(world.model);
    });

    it('an answer that is always empty ends the run, after three', async () => {
      await using world = await openWorld({
        protocol,
        script: () => ({ fault: { kind: 'empty' } }),
      });
      const run = await world.run([...RUN]);
      expect(run.code).toBe(1);
      expect(envelopeOf(run).error).toMatchObject({ code: 'PROVIDER_ERROR' });
      expect(world.model.requests.length).toBe(3);
    });
  });

  it('gives up after the retries it may make', async () => {
    await using world = await openWorld({
      protocol,
      script: () => ({ fault: { kind: 'status', status: 500, message: 'always so' } }),
    });
    const run = await world.run(['-p', 'go'], { env: { MUSTER_PROVIDER_RETRIES: '1' } });
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^muster: failed: PROVIDER_ERROR: [^\n]*always so[^\n]*\n$/);
    expect(world.model.requests.length).toBe(2);
  });

  it('a stream that falls silent ends as a timeout that names its limit', async () => {
    await using world = await openWorld({
      protocol,
      script: () => ({ text: 'half of it and then', chunks: 4, fault: { kind: 'hang_after' } }),
    });
    const env = { MUSTER_PROVIDER_RETRIES: '0', MUSTER_LIVENESS_STREAM_IDLE_SECONDS: '1' };
    const run = await world.run(['-p', 'go'], { env });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^muster: failed: TIMEOUT: [^\n]*stream_idle_seconds[^\n]*\n$/);
  });
});
