import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import { createAdapter, type WireModelPort } from '../../src/model/adapters/adapter.ts';
import { withWatchdog, type LivenessLimits } from '../../src/model/watchdog.ts';
import { userMessage } from '../../src/protocol/message.ts';
import { NO_USAGE, type ModelPart, type AnswerListener } from '../../src/protocol/model.ts';
import type { WireObserver } from '../../src/model/adapters/send-request.ts';
import { adapterDeps, collect, failed, finished, request, serve, sse } from './adapters/support.ts';
import { WIRES } from './adapters/wires.ts';

const LONG: LivenessLimits = { connectMs: 30_000, firstTokenMs: 30_000, streamIdleMs: 30_000 };
const ASKED = request([userMessage('Hi')]);

interface Step {
  readonly at: number;
  readonly do: ModelPart | 'connected' | 'bytes' | 'arguments';
}

interface Outcome {
  readonly last: ModelPart | undefined;
  /** When it ended, on the test's own clock. */
  readonly at: number;
}

/**
 * Plays steps against a watchdog on a clock that only the test moves: the heap's timer is real, so
 * each step of the clock looks for what is due by way of a deadline of its own.
 */
async function play(
  limits: LivenessLimits,
  steps: readonly Step[],
  listener?: AnswerListener,
): Promise<Outcome> {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const due: { at: number; fire: () => void }[] = [];
  const deadlines = new Deadlines(clock);
  deadlines.after = (ms, fire) => {
    const entry = { at: now + ms, fire };
    due.push(entry);
    return { cancel: () => void due.splice(due.indexOf(entry), due.includes(entry) ? 1 : 0) };
  };
  const port = manualPort();
  const watched = withWatchdog(port, limits, { clock, deadlines });
  const collected = collect(
    { stream: (asked, signal) => watched.stream(asked, signal, listener) },
    ASKED,
  );
  await settle();
  const until = (at: number): void => {
    for (;;) {
      const next = due.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > at) break;
      now = next.at;
      due.splice(due.indexOf(next), 1);
      next.fire();
      if (port.aborted()) return;
    }
    now = at;
  };
  for (const step of steps) {
    until(step.at);
    if (port.aborted()) break;
    port.step(step.do);
    await settle();
  }
  if (!port.aborted()) until(10_000_000);
  return { last: (await collected).at(-1), at: now };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

interface ManualPort extends WireModelPort {
  step(what: Step['do']): void;
  aborted(): boolean;
}

function manualPort(): ManualPort {
  const parts: ModelPart[] = [];
  let wake = (): void => {};
  let observer: WireObserver | undefined;
  let signal: AbortSignal | undefined;
  return {
    aborted: () => signal?.aborted === true,
    step(what) {
      if (what === 'connected') observer?.connected?.();
      else if (what === 'bytes') observer?.bytes?.(new Uint8Array(1));
      else if (what === 'arguments') observer?.argumentsGrew?.();
      else parts.push(what);
      wake();
    },
    async *stream(_request, theirs, watching) {
      signal = theirs;
      observer = watching;
      theirs.addEventListener('abort', () => wake());
      for (;;) {
        const part = parts.shift();
        if (part !== undefined) yield part;
        if (part?.type === 'finished') return;
        if (theirs.aborted) {
          const message = 'stopped';
          yield { type: 'failed', failure: { kind: 'cancelled', message, retryable: false } };
          return;
        }
        if (parts.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

const accepted: ModelPart = { type: 'accepted' };
const ping: ModelPart = { type: 'ping' };
const text: ModelPart = { type: 'text_delta', text: 'a' };
const DONE: ModelPart = {
  type: 'finished',
  message: { role: 'assistant', content: [] },
  usage: NO_USAGE,
  reason: 'stop',
};
const LIMITS: LivenessLimits = { connectMs: 20_000, firstTokenMs: 120_000, streamIdleMs: 60_000 };

function every(ms: number, from: number, to: number, what: Step['do']): Step[] {
  const steps: Step[] = [];
  for (let at = from; at <= to; at += ms) steps.push({ at, do: what });
  return steps;
}

test.each<{ what: string; steps: readonly Step[]; limit: string; at: number; key: string }>([
  {
    what: 'no connection',
    steps: [],
    limit: 'connect',
    at: 20_000,
    key: 'no connection for 20.0 s (limit liveness.connect_seconds)',
  },
  {
    what: 'no byte after the request was sent',
    steps: [{ at: 15_000, do: 'connected' }],
    limit: 'first_token',
    at: 135_000,
    key: 'no first token for 2 min 0 s (limit liveness.first_token_seconds)',
  },
  {
    what: 'accepted, and then nothing',
    steps: [
      { at: 1000, do: 'connected' },
      { at: 5000, do: accepted },
    ],
    limit: 'first_token',
    at: 125_000,
    key: 'first_token_seconds',
  },
  {
    what: 'pings before the first token extend it, up to 600 s',
    steps: [{ at: 1000, do: 'connected' }, ...every(10_000, 2000, 900_000, ping)],
    limit: 'first_token',
    at: 601_000,
    key: 'no first token for 10 min 0 s',
  },
  {
    what: 'silence after content',
    steps: [
      { at: 1000, do: 'connected' },
      { at: 2000, do: text },
    ],
    limit: 'stream_idle',
    at: 62_000,
    key: 'the stream fell silent for 1 min 0 s (limit liveness.stream_idle_seconds)',
  },
  {
    what: 'bytes without an event count as activity',
    steps: [
      { at: 1000, do: 'connected' },
      { at: 2000, do: text },
      ...every(50_000, 50_000, 200_000, 'bytes'),
    ],
    limit: 'stream_idle',
    at: 260_000,
    key: 'stream_idle_seconds',
  },
  {
    what: 'arguments of a call are content, however long they take',
    steps: [
      { at: 1000, do: 'connected' },
      { at: 2000, do: { type: 'tool_call_started', id: 'c', name: 'Write' } },
      ...every(50_000, 50_000, 900_000, 'arguments'),
    ],
    limit: 'stream_idle',
    at: 960_000,
    key: 'the stream fell silent for 1 min 0 s',
  },
  {
    what: 'pings after content, up to 600 s without any more',
    steps: [
      { at: 1000, do: 'connected' },
      { at: 2000, do: text },
      ...every(50_000, 50_000, 900_000, ping),
    ],
    limit: 'stream_idle',
    at: 602_000,
    key: 'the stream fell silent for 10 min 0 s',
  },
])('$what', async ({ steps, limit, at, key }) => {
  const outcome = await play(LIMITS, steps);
  expect(outcome).toEqual({
    at,
    last: {
      type: 'failed',
      failure: {
        kind: 'timeout',
        limit,
        retryable: true,
        message: expect.stringContaining(key),
      },
    },
  });
});

test('a stream that continues does not time out', async () => {
  const end: ModelPart = {
    type: 'finished',
    message: { role: 'assistant', content: [] },
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    reason: 'stop',
  };
  const steps: Step[] = [
    { at: 1000, do: 'connected' },
    ...every(59_000, 2000, 5_000_000, text),
    { at: 5_010_000, do: end },
  ];
  expect((await play(LIMITS, steps)).last).toEqual(end);
});

test('a limit above 600 s also applies to pings', async () => {
  const limits = { ...LIMITS, firstTokenMs: 700_000 };
  const steps: Step[] = [{ at: 0, do: 'connected' }, ...every(50_000, 1000, 900_000, ping)];
  expect((await play(limits, steps)).at).toBe(700_000);
});

const CHAT = WIRES.find(({ name }) => name === 'openai-chat')!;

test.each([
  { limit: 'first_token', headers: false },
  { limit: 'first_token', headers: true },
  { limit: 'stream_idle', headers: true },
])('a silent server on the wire: $limit, headers $headers', async ({ limit, headers }) => {
  let closed = (): void => {};
  const ended = new Promise<void>((resolve) => (closed = resolve));
  await using server = await serve((response) => {
    response.on('close', closed);
    if (!headers) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    if (limit === 'stream_idle') response.write(sse(CHAT.cutOff));
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
  const deadlines = new Deadlines(systemClock);
  const port = withWatchdog(
    createAdapter(CHAT.dialect, endpoint, adapterDeps()),
    { ...LONG, firstTokenMs: 80, streamIdleMs: 80 },
    { clock: systemClock, deadlines },
  );
  const failure = failed(await collect(port, ASKED));
  await ended;
  expect(failure).toMatchObject({ kind: 'timeout', limit, retryable: true });
  expect(deadlines.size).toBe(0);
});

test('a cancelled request is not a timeout, and leaves no deadline', async () => {
  await using server = await serve(() => {});
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
  const deadlines = new Deadlines(systemClock);
  const port = withWatchdog(createAdapter(CHAT.dialect, endpoint, adapterDeps()), LONG, {
    clock: systemClock,
    deadlines,
  });
  const controller = new AbortController();
  const collected = collect(port, ASKED, controller.signal);
  setTimeout(() => controller.abort(), 30);
  expect(failed(await collected).kind).toBe('cancelled');
  expect(deadlines.size).toBe(0);
});

test('hundreds of streams share one heap, and leave it', async () => {
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    setTimeout(() => response.end(sse(CHAT.answer)), 50);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
  const deadlines = new Deadlines(systemClock);
  const deps = { ...adapterDeps(), deadlines };
  const port = withWatchdog(createAdapter(CHAT.dialect, endpoint, deps), LONG, {
    clock: systemClock,
    deadlines,
  });
  const all = Array.from({ length: 200 }, () => collect(port, ASKED));
  expect(deadlines.size).toBe(200);
  for (const parts of await Promise.all(all)) expect(finished(parts).reason).toBe('tool_calls');
});

test('a connection that is established after its request has ended leaves no deadline', async () => {
  const deadlines = new Deadlines(systemClock);
  let late: WireObserver = {};
  const port: WireModelPort = {
    async *stream(_request, _signal, observer = {}) {
      late = observer;
      yield {
        type: 'failed',
        failure: { kind: 'cancelled', message: 'stopped', retryable: false },
      };
    },
  };
  await collect(withWatchdog(port, LONG, { clock: systemClock, deadlines }), ASKED);
  late.connected?.();
  late.bytes?.(new Uint8Array(1));
  expect(deadlines.size).toBe(0);
});

test.each<{ what: string; steps: readonly Step[]; heard: readonly string[] }>([
  { what: 'a connection that is slow', steps: [], heard: ['connection 3000'] },
  {
    what: 'a first token that is slow',
    steps: [
      { at: 1_000, do: 'connected' },
      { at: 9_000, do: text },
    ],
    heard: ['first_token 3000', 'flowing', 'next_event 6000'],
  },
  {
    what: 'both',
    steps: [
      { at: 5_000, do: 'connected' },
      { at: 5_500, do: text },
    ],
    heard: ['connection 3000', 'first_token 0', 'flowing', 'next_event 6000'],
  },
  {
    what: 'pings are not content',
    steps: [{ at: 100, do: accepted }, ...every(500, 500, 9_500, ping), { at: 10_000, do: text }],
    heard: ['first_token 3000', 'flowing', 'next_event 6000'],
  },
  {
    what: 'each silence is reported later than the one before',
    steps: [{ at: 0, do: accepted }, { at: 100, do: text }, ...every(10_000, 10_000, 50_000, text)],
    heard: ['next_event 3000', 'flowing', 'next_event 6000', 'flowing', 'next_event 12000'],
  },
  {
    what: 'a stream that flows',
    steps: [{ at: 0, do: accepted }, ...every(2_000, 100, 60_000, text), { at: 61_000, do: DONE }],
    heard: [],
  },
])('reports a silence: $what', async ({ steps, heard }) => {
  const told: string[] = [];
  await play(LIMITS, steps, {
    onSilence: ({ waitsFor, silentMs }) => void told.push(`${waitsFor} ${silentMs}`),
    onResumed: () => void told.push('flowing'),
    onProgress: () => {},
  });
  expect(told).toEqual(heard);
});

test('reports once that the request is sent, and only if the answer has not begun', async () => {
  const told: string[] = [];
  const listener = {
    onSent: () => void told.push('sent'),
    onSilence: () => {},
    onResumed: () => {},
    onProgress: () => {},
  };
  await play(
    LIMITS,
    [
      { at: 0, do: accepted },
      { at: 100, do: text },
      { at: 200, do: DONE },
    ],
    listener,
  );
  expect(told).toEqual(['sent']);
});
