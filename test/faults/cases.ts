import type { ModelFault as CountedFault } from '../../src/protocol/fault.ts';
import type { EndStatus } from '../../src/protocol/result.ts';
import type { Answer, Fault, WireProtocol } from '../../src/testing/index.ts';

/**
 * Who hears of a fault: nobody, since the same request is sent again, or since it is mended; the model,
 * in its next request; or who asked the task.
 */
type Told = 'nobody, tried again' | 'nobody, mended' | 'model' | 'caller';

export interface Outcome {
  readonly told: Told;
  readonly status: EndStatus;
  /** Requests that the task sends altogether: one before the fault, and what follows. */
  readonly requests: number;
  /** How it is counted in the receipt. */
  readonly counted: readonly CountedFault[];
  /** What the next request, or the error, says of it. */
  readonly says?: string;
  /** What its calls wrote: each line once, or the call never ran. */
  readonly effects: readonly string[];
}

/** What the second request of a task meets, and what comes of it. */
export interface FaultCase {
  readonly name: string;
  /** What is answered, over an answer with a text and a call that writes `b`. */
  readonly answer: Answer;
  /** Each request from the second on meets it. */
  readonly forEver?: true;
  /** Nothing comes of it but by a time limit. */
  readonly isSilent?: true;
  /** Where the request goes instead of the server. */
  readonly detour?: (url: URL) => URL;
  readonly outcome: Outcome;
  /** Where a protocol has another outcome, since it tells of the fault in another way. */
  readonly besides?: Readonly<Partial<Record<WireProtocol, Partial<Outcome>>>>;
}

const retried = (...counted: readonly CountedFault[]): Outcome => ({
  told: 'nobody, tried again',
  status: 'completed',
  requests: 4,
  counted,
  effects: ['a', 'b'],
});
const toModel = (counted: CountedFault, says: string): Outcome => ({
  told: 'model',
  status: 'completed',
  requests: 4,
  counted: [counted],
  says,
  effects: ['a', 'b'],
});
const failed = (counted: readonly CountedFault[], says: string): Outcome => ({
  told: 'caller',
  status: 'failed',
  requests: 2,
  counted,
  says,
  effects: ['a'],
});
const limited = (says: string): Outcome => ({
  ...failed(['too_large'], says),
  status: 'partial',
});

const fault = (name: string, what: Fault, outcome: Outcome): FaultCase => ({
  name,
  answer: { fault: what },
  outcome,
});
const status = (code: number, outcome: Outcome, more: Partial<Fault> = {}): FaultCase =>
  fault(`HTTP ${code}`, { kind: 'status', status: code, ...more } as Fault, outcome);

const LONG = 'x'.repeat(500_000);
const closed = (url: URL): URL => new URL(url.pathname, 'http://127.0.0.1:1');

/** Refused for good: sent again, it would be refused again. */
const REFUSALS: readonly FaultCase[] = [
  status(400, failed(['bad_request'], 'HTTP 400')),
  status(401, failed(['auth'], 'HTTP 401')),
  status(402, failed(['rate_limit'], 'HTTP 402')),
  status(403, failed(['auth'], 'HTTP 403')),
  status(404, failed(['not_found'], 'HTTP 404')),
  status(413, failed(['context_overflow'], 'HTTP 413')),
  status(422, failed(['bad_request'], 'HTTP 422')),
  {
    ...status(302, failed(['bad_request'], 'redirects'), {
      headers: { location: 'http://127.0.0.1:1/v1' },
    }),
    name: 'a redirect',
  },
  fault('a web page', { kind: 'wrong_content_type' }, failed(['bad_request'], 'web page')),
  {
    name: 'no TLS where TLS is spoken to',
    answer: {},
    detour: (url) => new URL(url.href.replace('http:', 'https:')),
    outcome: failed(['connect'], 'does not use TLS'),
  },
  {
    name: 'a content filter',
    answer: { stop: 'content_filter' },
    outcome: failed([], 'content filter'),
  },
];

const TROUBLE: readonly FaultCase[] = [
  status(408, retried('server')),
  status(409, retried('server')),
  status(429, retried('rate_limit'), { headers: { 'retry-after-ms': '50' } }),
  status(500, retried('server')),
  status(502, retried('server'), { body: '<html><title>Bad Gateway</title></html>' }),
  status(503, retried('overloaded'), { retryAfterSeconds: 1 }),
  status(504, retried('server'), { body: LONG }),
  status(529, retried('overloaded')),
  {
    ...status(500, failed(['server'], 'given up after 3 tries')),
    name: 'HTTP 500 for ever',
    forEver: true,
    outcome: { ...failed(['server'], 'given up after 3 tries'), requests: 4 },
  },
  fault('a closed connection', { kind: 'refuse' }, retried('connect')),
  { name: 'no connection', answer: {}, detour: closed, outcome: retried('connect') },
  {
    name: 'an unknown host',
    answer: {},
    detour: (url) => new URL(url.pathname, 'http://no-such-host.invalid'),
    outcome: retried('connect'),
  },
];

/** Protocols without an event that ends an answer: what came complete is taken, and its call runs. */
const TAKEN: Partial<Outcome> = {
  told: 'nobody, mended',
  requests: 3,
  counted: [],
  effects: ['a', 'b', 'c'],
};

const BROKEN_STREAMS: readonly FaultCase[] = [
  fault('a reset', { kind: 'reset' }, retried('connect')),
  {
    ...fault('no end', { kind: 'truncate' }, retried('connect')),
    besides: { chat: TAKEN, google: TAKEN },
  },
  fault('half an event', { kind: 'half_event' }, retried('connect')),
  fault('an event that is no JSON', { kind: 'malformed_frame' }, retried('malformed')),
  fault('an overload inside', { kind: 'overloaded' }, retried('overloaded')),
  fault(
    'a rate limit inside',
    { kind: 'error_event', status: 429, message: 'Please try again in 50ms.' },
    retried('rate_limit'),
  ),
  fault('a server error inside', { kind: 'error_event', status: 500 }, retried('server')),
  fault('a lost key inside', { kind: 'error_event', status: 401 }, failed(['auth'], 'breaks off')),
];

const silence = (name: string, what: Fault): FaultCase => ({
  ...fault(name, what, retried('timeout')),
  isSilent: true,
});
const SILENCE: readonly FaultCase[] = [
  silence('no answer', { kind: 'hang' }),
  silence('headers without end', { kind: 'slow_headers' }),
  silence('silence inside', { kind: 'hang_after' }),
  silence('pings without end', { kind: 'ping_forever', everyMs: 20 }),
];

const TOO_MUCH: readonly FaultCase[] = [
  fault('a huge text', { kind: 'huge', megabytes: 1 }, limited('answer_bytes = 4000')),
  fault(
    'thinking without end',
    { kind: 'thinking_forever', everyMs: 0 },
    limited('answer_bytes = 4000'),
  ),
  fault(
    'a flood of pings',
    { kind: 'ping_forever', everyMs: 0 },
    limited('answer_stream_bytes = 400000'),
  ),
  {
    name: 'huge arguments',
    answer: {
      toolCalls: [{ name: 'Write', input: { file_path: 'big', content: LONG } }],
      chunks: 100,
    },
    outcome: limited('answer_bytes = 4000'),
    // It sends a call in one event.
    besides: { google: { says: 'answer_event_bytes = 100000' } },
  },
  {
    name: 'a huge line',
    answer: { text: LONG, toolCalls: [], chunks: 1 },
    outcome: limited('answer_event_bytes = 100000'),
  },
];

const BASH = { command: 'true', description: 'nothing' };
const GARBLED: readonly FaultCase[] = [
  {
    name: 'two calls under one id',
    answer: { fault: { kind: 'duplicate_tool_ids' } },
    outcome: {
      ...retried('duplicate_call_id'),
      told: 'nobody, mended',
      requests: 3,
      effects: ['a', 'b', 'c'],
    },
  },
  {
    ...fault('arguments that are no JSON', { kind: 'broken_tool_json' }, retried()),
    outcome: toModel('broken_arguments', 'not valid JSON'),
    // It says itself that the call is malformed, and sends none.
    besides: { google: retried('malformed') },
  },
  {
    name: 'a call cut at the output limit',
    answer: { text: '', fault: { kind: 'length_stop' } },
    outcome: toModel('cut_call', 'cut off at your output limit'),
    besides: {
      google: { counted: ['cut_answer'], says: 'Send less at once' },
    },
  },
  {
    name: 'a text cut at the output limit',
    answer: { text: 'half of ', toolCalls: [], stop: 'length' },
    outcome: toModel('cut_answer', 'Go on with it exactly where it stopped'),
  },
  {
    ...fault('no content', { kind: 'empty' }, retried()),
    outcome: toModel('empty_answer', 'Your answer was empty'),
  },
  {
    name: 'a call written as text',
    answer: {
      text: `<tool_call>${JSON.stringify({ name: 'Bash', arguments: BASH })}</tool_call>`,
      toolCalls: [],
    },
    outcome: toModel('call_as_text', 'text runs nothing'),
  },
  {
    name: 'an unknown tool',
    answer: { toolCalls: [{ name: 'Fly', input: {} }] },
    outcome: toModel('unknown_tool', 'Fly is not among your tools'),
  },
  {
    name: 'arguments that the tool does not take',
    answer: { toolCalls: [{ name: 'Bash', input: { command: 5 } }] },
    outcome: toModel('invalid_arguments', 'of the wrong type'),
  },
];

export const CASES: readonly FaultCase[] = [
  ...REFUSALS,
  ...TROUBLE,
  ...BROKEN_STREAMS,
  ...SILENCE,
  ...TOO_MUCH,
  ...GARBLED,
];
