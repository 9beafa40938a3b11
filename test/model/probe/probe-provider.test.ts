import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { requestModels } from '../../../src/model/listing/request-models.ts';
import { MAX_PROBE_OUTPUT, MAX_PROBE_REQUESTS } from '../../../src/model/probe/probe-client.ts';
import { probeProvider, type ProbeReport } from '../../../src/model/probe/probe-provider.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ConfiguredProvider } from '../../../src/model/providers/configured-provider.ts';
import type { ProviderKind, ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import type { FakeModel } from '../../../src/testing/index.ts';
import { serve, sse, type Respond } from '../adapters/support.ts';
import { startGateway, startProbedModel, type Abilities } from './probed-server.ts';

const KINDS: readonly ProviderKind[] = ['openai-compatible', 'openai-responses', 'anthropic'];
const KEY = 'sk-probe-0123456789';
const LIMITS = {
  connectMs: 20_000,
  firstTokenMs: 20_000,
  privateFirstTokenMs: 20_000,
  streamIdleMs: 20_000,
};

function configure(
  baseUrl: string,
  kinds: readonly ProviderKind[] = KINDS,
  more: ProviderSettings = {},
): readonly [ConfiguredProvider, ...ConfiguredProvider[]] {
  const found = kinds.flatMap((kind) =>
    discoverProviders({ providers: { acme: { baseUrl, kind, ...more } } }, { ACME_KEY: KEY }),
  );
  const [first, ...others] = found;
  if (first === undefined) throw new Error('no provider');
  return [first, ...others];
}

interface ProbeOptions {
  readonly model?: string;
  readonly kinds?: readonly ProviderKind[];
  readonly settings?: ProviderSettings;
  readonly isRefused?: true;
}

async function probe(url: string, options: ProbeOptions = {}): Promise<ProbeReport> {
  const fetch = createHttpFetch({});
  const deps = { fetch, clock: systemClock };
  const seen: unknown[] = [];
  const target = {
    candidates: configure(url, options.kinds, options.settings),
    model: options.model ?? null,
  };
  const report = await probeProvider(target, {
    ...deps,
    deadlines: new Deadlines(systemClock),
    version: '1.2.3',
    environment: {},
    limits: LIMITS,
    listModels: (one) => requestModels(one, deps, { timeoutMs: 20_000, isDetailed: true }),
    onCheck: (check) => seen.push(check),
    confirm: () => Promise.resolve(options.isRefused !== true),
  });
  // Each check is reported as soon as it is made.
  expect(seen).toEqual(report.checks);
  return report;
}

/** Probes a model on loopback, and expects that the limits of a probe are kept. */
async function probeModel(
  abilities: Abilities,
  options: ProbeOptions = {},
): Promise<{ readonly report: ProbeReport; readonly requests: FakeModel['requests'] }> {
  const model = await startProbedModel(abilities);
  try {
    const report = await probe(model.url, options);
    const { requests } = model;
    expect(requests.length).toBeLessThanOrEqual(MAX_PROBE_REQUESTS);
    expect(report.requests).toBe(requests.length);
    for (const { rawBody } of requests) {
      const limit = /"max_(?:completion_|output_)?tokens":(\d+)/.exec(rawBody)?.[1];
      if (limit !== undefined) expect(Number(limit)).toBeLessThanOrEqual(MAX_PROBE_OUTPUT);
    }
    return { report, requests };
  } finally {
    await model.close();
  }
}

/** The checks as lines, without times and addresses. */
function lines({ checks }: ProbeReport): readonly string[] {
  return checks.map(({ status, name, detail, fix }) =>
    `${status} ${name}: ${detail}${fix === null ? '' : ` → ${fix}`}`
      .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, 'N ms')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'URL'),
  );
}

function find(report: ProbeReport, name: string): string {
  const prefix = new RegExp(`^\\w+ ${name}: `);
  return lines(report).find((line) => prefix.test(line)) ?? `no check ${name}`;
}

describe('a server that supports everything', () => {
  it('passes all checks, and its settings are found', async () => {
    const { report, requests } = await probeModel({ chunkMs: 2 });
    expect(lines(report)).toEqual([
      'ok address: URL/v1 answers (HTTP 200 after N ms)',
      'ok key: none is sent',
      'ok models: 1 model; fake-model is asked, because it is the first one',
      'ok protocol: Chat Completions answers',
      'ok streaming: 10 pieces of text, the first after N ms, all after N ms',
      expect.stringMatching(
        /^ok usage: \d+ tokens in and \d+ out, at the end of the stream; cached tokens are reported$/,
      ),
      'ok tool call: the call has the right name and complete arguments',
      'ok parallel calls: 2 calls in one answer',
      'ok tool results: the model answers from the results of its calls',
      'ok images: the model sees a PNG image',
      'ok tool schemas: accepted: nested objects, enum, anyOf, $ref, additionalProperties, lists of types',
      'ok other protocols: Responses answers, too; Anthropic Messages answers, too',
      expect.stringMatching(/^warn context window: the server does not state it/),
      // This is sent only to a server that answers fast.
      ...(requests.length > 8 ? ['ok long prompt: more than 5000 tokens come to the model'] : []),
      expect.stringMatching(
        /^ok output limit: max_tokens is accepted; the longest answer had \d+ tokens$/,
      ),
    ]);
    expect(report).toMatchObject({
      model: 'fake-model',
      isUsageComplete: true,
      findings: {
        learned: { omit: [], outputCap: null },
        seesImages: true,
        model: { contextWindow: null },
      },
    });
    expect(report.usage.output).toBeGreaterThan(0);
  });

  it.each([
    ['openai-responses', ['openai-responses'], 'Responses'],
    ['anthropic', ['anthropic'], 'Anthropic Messages'],
    ['google', ['google'], 'Gemini'],
  ] as const)('is asked only in the protocol that is settled: %s', async (_, kinds, title) => {
    const { report } = await probeModel({}, { kinds });
    expect(find(report, 'protocol')).toBe(`ok protocol: ${title} answers`);
    expect(find(report, 'parallel calls')).toBe('ok parallel calls: 2 calls in one answer');
    expect(find(report, 'images')).toBe('ok images: the model sees a PNG image');
    expect(find(report, 'other protocols')).toBe('no check other protocols');
  });

  it('is asked nothing that costs if the user refuses', async () => {
    const { report, requests } = await probeModel({}, { isRefused: true });
    expect(requests).toEqual([]);
    expect(lines(report).at(-1)).toBe('warn protocol: not tested: no request was sent');
    expect(report).toMatchObject({ requests: 0, findings: null });
  });
});

describe('a server that lacks something', () => {
  it('has only one of the protocols', async () => {
    const { report } = await probeModel({ protocols: ['anthropic'] });
    expect(find(report, 'protocol')).toBe(
      'ok protocol: Anthropic Messages answers; it has no Chat Completions and no Responses',
    );
    expect(find(report, 'other protocols')).toBe(
      'ok other protocols: Chat Completions: no; Responses: no',
    );
    expect(report.provider.protocol).toBe('anthropic');
  });

  it('has none of the protocols', async () => {
    const { report } = await probeModel({ protocols: [] });
    expect(find(report, 'protocol')).toMatch(
      /^fail protocol: the server does not answer to Chat Completions, Responses, Anthropic Messages: .*404.* → correct the URL/,
    );
    expect(report.findings).toBeNull();
  });

  it('does not know the model', async () => {
    const message = 'The model `m` does not exist';
    const before = () => ({ fault: { kind: 'status', status: 404, message } }) as const;
    const { report, requests } = await probeModel({ before }, { model: 'm' });
    expect(find(report, 'models')).toBe('warn models: 1 model, but m is not among them');
    expect(find(report, 'protocol')).toMatch(
      /^fail protocol: HTTP 404: The model `m` does not exist .* → choose a model of the server/,
    );
    expect(requests).toHaveLength(1);
  });

  it('knows text only', async () => {
    const { report } = await probeModel({
      protocols: ['chat'],
      toolRefusal: 'registry.ollama.ai/library/gemma:2b does not support tools',
      images: 'refused',
    });
    expect(lines(report).slice(6, 10)).toEqual([
      'fail tool call: HTTP 400: registry.ollama.ai/library/gemma:2b does not support tools → choose a model that can call tools with --model ID',
      'warn images: refused: HTTP 400: This model does not support image input',
      'ok other protocols: Responses: no; Anthropic Messages: no',
      expect.stringMatching(/^warn context window/),
    ]);
    expect(report.findings?.seesImages).toBe(false);
  });

  it.each([
    [
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      'start vLLM with --enable-auto-tool-choice --tool-call-parser NAME',
    ],
    ['tools param requires --jinja flag', 'start llama-server with --jinja'],
  ])('refuses tools because of how it was started: %s', async (toolRefusal, fix) => {
    const { report } = await probeModel({ protocols: ['chat'], toolRefusal });
    expect(report.checks.find(({ name }) => name === 'tool call')).toMatchObject({
      status: 'fail',
      fix,
    });
  });

  it.each([
    [{ maxCalls: 0 }, /^fail tool call: no call, but the text "I cannot read files\." → choose/],
    [{ callsAsText: true }, /^fail tool call: the call came as text: "<tool_call>.* → choose/],
    [{ onlyThinks: true }, /^warn tool call: not tested: the model used all 64 tokens to think/],
  ] as const)('makes no call: %j', async (abilities, expected) => {
    const { report } = await probeModel({ protocols: ['chat'], ...abilities });
    expect(find(report, 'tool call')).toMatch(expected);
    expect(find(report, 'parallel calls')).toBe('no check parallel calls');
  });

  it('makes one call at a time', async () => {
    const { report } = await probeModel({ protocols: ['chat'], maxCalls: 1 });
    expect(find(report, 'parallel calls')).toBe(
      'warn parallel calls: one call instead of two: subagents and tools run one after the other',
    );
    expect(find(report, 'tool results')).toMatch(/^ok/);
  });

  it.each([
    ['refused', /^warn images: refused: HTTP 400: This model does not support image input$/, false],
    ['crash', /^warn images: refused: HTTP 500: panic: height:1 must be larger/, false],
    ['blind', /^warn images: an image is accepted, but the model .* "I see no image\."/, false],
  ] as const)('sees no images: %s', async (images, expected, seesImages) => {
    const { report } = await probeModel({ protocols: ['chat'], images });
    expect(find(report, 'images')).toMatch(expected);
    expect(report.findings?.seesImages).toBe(seesImages);
  });

  it('thinks before it answers', async () => {
    const { report, requests } = await probeModel({
      protocols: ['chat'],
      thinking: 'Let me think.',
    });
    expect(find(report, 'streaming')).toMatch(/^ok/);
    expect(find(report, 'thinking')).toBe(
      'ok thinking: the model thinks before it answers; the server accepts the effort "none"',
    );
    expect(find(report, 'tool call')).toMatch(/^ok/);
    expect(requests[0]?.body).not.toHaveProperty('reasoning_effort');
    expect(requests[1]?.body).toHaveProperty('reasoning_effort', 'none');
  });

  it('reports no usage, and refuses parts of requests', async () => {
    const strict = { refusedParameters: ['stream_options', 'max_tokens'] };
    const { report } = await probeModel({ protocols: ['chat'], strict });
    expect(find(report, 'usage')).toBe(
      'warn usage: not reported (the server refuses stream_options): budgets and costs count estimates → switch the report of usage on at the server',
    );
    expect(find(report, 'output limit')).toBe('ok output limit: max_completion_tokens is accepted');
    expect(find(report, 'adjustments')).toBe(
      'ok adjustments: requests are sent without what the server refuses: stream_options, max_tokens',
    );
    expect(report).toMatchObject({
      isUsageComplete: false,
      findings: { learned: { omit: ['stream_options', 'max_tokens'] } },
    });
  });

  it('ignores the output limit', async () => {
    const before = () => ({ text: 'x', usage: { output: 500 } });
    const { report } = await probeModel({ protocols: ['chat'], before });
    expect(find(report, 'output limit')).toBe(
      'warn output limit: max_tokens is accepted and ignored: an answer had 500 tokens instead of at most 64 → set a limit at the server',
    );
  });

  it('cuts long prompts', async () => {
    const { report, requests } = await probeModel({ protocols: ['chat'], window: 4096 });
    // This is sent only to a server that answers fast.
    if (requests.length < 9) return;
    expect(find(report, 'long prompt')).toMatch(
      /^warn long prompt: the server cuts it without an error: of more than 5000 tokens, the model gets 4096 → enlarge/,
    );
  });
});

describe('a server that refuses features of schemas', () => {
  const check = async (schemaRefusals: NonNullable<Abilities['schemaRefusals']>) => {
    const abilities = { protocols: ['chat'] as const, schemaRefusals };
    return find(
      (await probeModel(abilities, { kinds: ['openai-compatible'] })).report,
      'tool schemas',
    );
  };

  it.each([
    [/\$ref/, 'Unsupported keyword: $ref', '$ref'],
    [/\$ref/, 'Bad schema', '$ref'],
    [/"additionalProperties":\{/, 'additionalProperties must be a boolean', 'additionalProperties'],
    [/\["string","null"\]/, 'Invalid type list', 'lists of types'],
  ])('names those that Muster can do without: %s, %j', async (pattern, message, name) => {
    expect(await check([[pattern, message]])).toBe(
      `warn tool schemas: refused: ${name} (HTTP 400: ${message}) → do without these in the schemas of structured results`,
    );
  });

  it('names those that the tools of Muster need', async () => {
    expect(await check([[/anyOf|\$ref/, 'Bad schema']])).toBe(
      'fail tool schemas: refused: anyOf, $ref (HTTP 400: Bad schema) → update the server or choose another one: the tools of Muster need anyOf',
    );
  });

  it('stops at the limit of requests', async () => {
    expect(await check([[/Configure|name/, 'Bad schema']])).toMatch(
      /^fail tool schemas: refused: .*at least one of .* \(HTTP 400: Bad schema\)/,
    );
  });
});

describe('a server at an odd address', () => {
  const IDS = { object: 'list', data: [{ id: 'm', object: 'model' }] };
  const json =
    (body: unknown): Respond =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };

  it('has its API under the other base URL', async () => {
    const model = await startProbedModel();
    await using gateway = await startGateway(model.url, {
      map: (path) => (path.startsWith('/api/v1/') ? path.slice('/api'.length) : null),
    });
    const report = await probe(`${gateway.url}/api`, { kinds: ['openai-compatible'] });
    await model.close();
    expect(find(report, 'address')).toBe(
      'ok address: URL/api has no API, but URL/api/v1 answers (HTTP 200 after N ms)',
    );
    expect(find(report, 'protocol')).toBe('ok protocol: Chat Completions answers at URL/api/v1');
    expect(report.findings?.learned.baseUrl).toBe(`${gateway.url}/api/v1`);
  });

  it('is a web page, and gets no key', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>Sign\u001b[31m in</title>');
    });
    const report = await probe(server.url, { settings: { apiKeyEnv: 'ACME_KEY' } });
    expect(lines(report)).toEqual([
      expect.stringMatching(
        /^fail address: URL\/v1 answers with a web page, "Sign.* in" \(HTTP 200\) → give the base URL/,
      ),
      'ok key: from ACME_KEY',
    ]);
    expect(JSON.stringify(report)).not.toContain('\\u001b');
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/models',
      'GET /models',
    ]);
    expect(JSON.stringify(server.requests)).not.toContain(KEY);
  });

  it('redirects', async () => {
    await using server = await serve((response) => {
      response.writeHead(308, { location: 'https://api.acme.example/v1/models?token=secret' });
      response.end();
    });
    const report = await probe(`${server.url}/v1`);
    expect(lines(report)[0]).toBe(
      'fail address: URL/v1: the server redirects to https://api.acme.example/v1/models → set its base URL to that address',
    );
  });

  it('has no list of models', async () => {
    const events = sse([
      { choices: [{ delta: { content: 'one, ' } }] },
      { choices: [{ delta: { content: 'two' }, finish_reason: 'stop' }] },
    ]);
    await using server = await serve((response, { method, url }) => {
      const isChat = method === 'POST' && url === '/v1/chat/completions';
      response.writeHead(isChat ? 200 : 404, {
        'content-type': isChat ? 'text/event-stream' : 'text/plain',
      });
      response.end(isChat ? events : 'no such page');
    });
    const unnamed = await probe(`${server.url}/v1`);
    expect(lines(unnamed)).toEqual([
      'warn address: the server answers, but has no list of models at URL/v1 or URL → correct the URL if the next steps fail too',
      'ok key: none is sent',
      expect.stringMatching(
        /^fail models: no list: HTTP 404: no such page .* → correct the URL, or name a model with --model ID$/,
      ),
    ]);
    const named = await probe(`${server.url}/v1`, { model: 'm' });
    expect(find(named, 'models')).toMatch(/^warn models: no list: HTTP 404/);
    expect(find(named, 'protocol')).toBe('ok protocol: Chat Completions answers');
    expect(find(named, 'usage')).toMatch(/^warn usage: not reported: budgets/);
  });

  it('sends one document instead of a stream', async () => {
    const message = { role: 'assistant', content: 'one, two' };
    const document = { choices: [{ message, finish_reason: 'stop' }] };
    await using server = await serve((response, seen, index) =>
      json(seen.method === 'GET' ? IDS : document)(response, seen, index),
    );
    const report = await probe(`${server.url}/v1`, { kinds: ['openai-compatible'] });
    expect(find(report, 'streaming')).toMatch(
      /^warn streaming: no stream: the whole answer came as one document after N ms → switch/,
    );
  });

  it.each([
    [401, /^fail models: no list: HTTP 401: .* → name the variable that holds the key/],
    [500, /^fail address: URL\/v1 answers with HTTP 500: .* → look in the log of the server/],
  ])('answers every request with %i', async (status, expected) => {
    await using server = await serve((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `Bad key ${KEY}` } }));
    });
    const report = await probe(`${server.url}/v1`, {
      kinds: ['openai-compatible'],
      settings: { apiKeyEnv: 'ACME_KEY' },
    });
    expect(lines(report).find((line) => line.startsWith('fail'))).toMatch(expected);
    expect(JSON.stringify(report.checks)).not.toContain(KEY);
  });

  it('cannot be reached', async () => {
    const report = await probe('http://127.0.0.1:9/v1');
    expect(lines(report)[0]).toMatch(
      /^fail address: URL\/v1: no connection: connect ECONNREFUSED .* → start the server, or correct the port$/,
    );
  });

  it('is not asked without its key', async () => {
    await using server = await serve(json(IDS));
    const report = await probe(`${server.url}/v1`, { settings: { apiKeyEnv: 'OTHER' } });
    expect(lines(report)[1]).toBe('fail key: OTHER is not set → set OTHER to the key');
    expect(server.requests).toHaveLength(1);
  });
});
