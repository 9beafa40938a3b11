import * as fc from 'fast-check';
import { PRESET_QUIRKS } from '../../../../src/model/settings/preset-quirks.ts';
import { findPresetByHost, PRESETS } from '../../../../src/model/settings/presets.ts';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../../src/base/json.ts';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import type { ProtocolAdapter } from '../../../../src/model/adapters/protocol-adapter.ts';
import { googleProtocol as google } from '../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import type { AssistantPart, Message, ToolResultPart } from '../../../../src/protocol/message.ts';
import { checkRequest } from '../../../../src/testing/strict/check-request.ts';
import type { ChatServer } from '../../../../src/testing/strict/options.ts';
import { describeViolations } from '../../../../src/testing/strict/rule.ts';
import type { WireProtocol } from '../../../../src/testing/index.ts';
import { adapterDeps, collect, request } from '../support.ts';

interface Receiver {
  readonly protocol: WireProtocol;
  readonly dialect: ProtocolAdapter;
  readonly model: string;
  readonly chatServer?: ChatServer;
  /** Default: a server of the user's own. */
  readonly baseUrl?: string;
}

const RECEIVERS: readonly Receiver[] = [
  { protocol: 'anthropic', dialect: anthropic, model: 'claude-sonnet-5' },
  { protocol: 'responses', dialect: responses, model: 'gpt-5' },
  { protocol: 'chat', dialect: chat, model: 'qwen3-coder' },
  {
    protocol: 'chat',
    dialect: chat,
    model: 'mistral-large-latest',
    chatServer: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
  },
  {
    protocol: 'chat',
    dialect: chat,
    model: 'gemini-3-pro-preview',
    chatServer: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  },
  { protocol: 'google', dialect: google, model: 'gemini-2.5-pro' },
  { protocol: 'google', dialect: google, model: 'gemini-3-pro' },
];

/** The bodies that an adapter sends for a history. */
async function bodyFor(
  { dialect, model, baseUrl = 'http://127.0.0.1:1/v1' }: Receiver,
  messages: readonly Message[],
) {
  const bodies: string[] = [];
  const deps = {
    ...adapterDeps(),
    fetch: async (_url: string | URL, init?: { readonly body?: unknown }) => {
      bodies.push(String(init?.body));
      throw new Error('sent');
    },
  };
  const preset = findPresetByHost(new URL(baseUrl).hostname);
  const omit = preset === null ? [] : (PRESETS[preset].omit ?? []);
  const quirks = preset === null ? {} : (PRESET_QUIRKS[preset] ?? {});
  const endpoint = { name: 'test', baseUrl, apiKey: 'key', omit, quirks };
  const asked = request(messages, {
    model: { provider: 'test', id: model, chain: [] },
    maxOutputTokens: 1000,
    prefix: {
      system: ['You are Muster.', ' \n', 'Be brief.'],
      tools: [
        {
          name: 'Read',
          description: 'Reads a file.',
          inputSchema: { type: 'object', properties: {} },
        },
      ],
    },
  });
  await collect(createAdapter(dialect, endpoint, deps), asked);
  const parsed: unknown = JSON.parse(bodies[0] ?? 'null');
  if (!isJsonObject(parsed)) throw new Error('no request was sent');
  return parsed;
}

const blank = fc.constantFrom('', ' ', '\n\n', '\t', '\u00A0', '\u200B');
const said = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
  { weight: 2, arbitrary: blank },
  { weight: 1, arbitrary: fc.constantFrom('ends with a blank ', '\uD800 alone') },
);
const name = fc.oneof(
  fc.constantFrom(
    'Read',
    'functions.Read',
    'read file',
    '',
    ' ',
    '🔥',
    '1st',
    '-x',
    'a'.repeat(200),
    'mcp__a__b',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const callId = fc.oneof(
  fc.constantFrom(
    'toolu_1',
    'call_1',
    'functions.Read:0',
    '',
    ' ',
    'ö',
    'x'.repeat(70),
    'a.b',
    'a_b',
    'call 1',
    'a__thought__b',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const meta = fc.option(
  fc.constantFrom<JsonObject>(
    { anthropic: { signature: 'c2ln' } },
    { anthropic: { redactedData: 'c2ln' } },
    { anthropic: {} },
    { openai: { itemId: 'rs_1' } },
    { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'c2ln' } },
    { openai: { itemId: 'msg_1', phase: 'commentary' } },
    { openai: { itemId: 'fc_1' } },
    { google: { thoughtSignature: 'c2ln' } },
    { openaiCompatible: { thoughtSignature: 'c2ln' } },
    { marks: { before: '<think>', after: '</think>\n' } },
  ),
  { nil: undefined },
);
const part: fc.Arbitrary<AssistantPart> = fc
  .tuple(
    fc.oneof(
      fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text: said }),
      fc.record({
        type: fc.constant('tool_call' as const),
        id: callId,
        name,
        input: fc.constantFrom({}, { path: 'a' }, [1], 'raw', null),
      }),
    ),
    meta,
  )
  .map(([given, own]) => (own === undefined ? given : Object.assign({ meta: own }, given)));
const result: fc.Arbitrary<ToolResultPart> = fc.record({
  type: fc.constant('tool_result'),
  callId,
  name,
  text: said,
  isError: fc.boolean(),
});
const user = fc.array(said, { maxLength: 3 }).map((texts): Message => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
}));
const model = fc.constantFrom(
  undefined,
  ...RECEIVERS.map((each) => `test/${each.model}`),
  'other/model',
);

/** An answer, and its results as they should be, or in part, or others. */
const exchange = fc
  .record({
    content: fc.array(part, { maxLength: 5 }),
    model,
    keep: fc.array(fc.boolean()),
    extra: fc.array(result, { maxLength: 1 }),
    isReversed: fc.boolean(),
  })
  .map(({ content, model: by, keep, extra, isReversed }): readonly Message[] => {
    const answer: Message = {
      role: 'assistant',
      content,
      ...(by === undefined ? {} : { model: by }),
    };
    const results = content.flatMap((each, index): ToolResultPart[] =>
      each.type === 'tool_call' && (keep[index] ?? true)
        ? [{ type: 'tool_result', callId: each.id, name: each.name, text: 'r', isError: false }]
        : [],
    );
    const all = [...(isReversed ? results.toReversed() : results), ...extra];
    return all.length === 0 ? [answer] : [answer, { role: 'tool', content: all }];
  });
const history = fc
  .array(
    fc.oneof(
      exchange,
      user.map((message) => [message]),
    ),
    { maxLength: 8 },
  )
  .chain((messages) => user.map((last) => messages.flat().concat(last)));

describe.each(RECEIVERS)('$model over $protocol', (receiver) => {
  const { protocol, chatServer } = receiver;
  const options = chatServer === undefined ? {} : { chatServer };

  it('accepts any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const body = await bodyFor(receiver, messages);
        const violations = checkRequest({ protocol, body, model: receiver.model }, options);
        expect(describeViolations(violations)).toBe('');
      }),
      { numRuns: 300 },
    );
  });

  it('gets requests that continue the previous one', async () => {
    await fc.assert(
      fc.asyncProperty(history, exchange, async (earlier, answer) => {
        const before = messagesOf(await bodyFor(receiver, earlier));
        const after = messagesOf(await bodyFor(receiver, [...earlier, ...answer]));
        expect(after.slice(0, before.length)).toEqual(before);
      }),
      { numRuns: 150 },
    );
  });
});

function messagesOf(body: JsonObject): readonly unknown[] {
  const messages = body['messages'] ?? body['input'] ?? body['contents'];
  const marks = /,?"cache_control":\{"type":"ephemeral"\}/g;
  return JSON.parse(JSON.stringify(messages).replaceAll(marks, '')) as unknown[];
}
