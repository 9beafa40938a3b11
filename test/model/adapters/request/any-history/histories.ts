import * as fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../../../src/base/json.ts';
import type { Attachment } from '../../../../../src/protocol/attachment.ts';
import type {
  AssistantMessage,
  AssistantPart,
  Message,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../../../../src/protocol/message.ts';

/** A model that can have written an answer, and the metadata that its API puts on parts. */
interface Writer {
  readonly model: string;
  readonly reasoning: fc.Arbitrary<JsonObject>;
  readonly text: fc.Arbitrary<JsonObject>;
  readonly call: fc.Arbitrary<JsonObject>;
}

const base64 = fc.base64String({ minLength: 4, maxLength: 24 });
const few = fc.integer({ min: 0, max: 5 });

/** Ids out of a small stock: a server can count anew in each answer. */
function itemIds(prefix: string): fc.Arbitrary<string> {
  return few.map((number) => `${prefix}_${number}`);
}

const NOTHING = fc.constant<JsonObject>({});
const SIGNED = base64.map((thoughtSignature): JsonObject => ({ google: { thoughtSignature } }));

const WRITERS: readonly Writer[] = [
  {
    model: 'anthropic/claude-sonnet-4-5',
    reasoning: fc.oneof(
      base64.map((signature): JsonObject => ({ anthropic: { signature } })),
      base64.map((redactedData): JsonObject => ({ anthropic: { redactedData } })),
    ),
    text: NOTHING,
    call: NOTHING,
  },
  {
    model: 'openai/gpt-5.2',
    reasoning: fc
      .record({ itemId: itemIds('rs'), reasoningEncryptedContent: fc.option(base64) })
      .map((openai): JsonObject => ({ openai })),
    text: itemIds('msg').map((itemId): JsonObject => ({ openai: { itemId } })),
    call: itemIds('fc').map((itemId): JsonObject => ({ openai: { itemId } })),
  },
  {
    model: 'google/gemini-3-pro-preview',
    reasoning: SIGNED,
    text: SIGNED,
    call: SIGNED,
  },
  {
    model: 'local/qwen3:8b',
    reasoning: fc.constant({ marks: { before: '<think>', after: '</think>' } }),
    text: NOTHING,
    call: NOTHING,
  },
];

const texts = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n\n',
    '\u00a0\t',
    '\u200b',
    'Looking. ',
    'ends in a line\n',
    'Grüße 🌍',
  ),
  fc.constantFrom('half \ud83d', '\udc00 half', '\u0000', '<think>', '</think>'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const callIds = fc.oneof(
  few.map((number) => `call_${number}`),
  fc.constantFrom(
    '',
    ' ',
    'functions.Read:0',
    'toolu_01A9',
    'call 1',
    '📎',
    'a'.repeat(65),
    'b'.repeat(400),
    'call_1__thought__YWJj',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const callNames = fc.oneof(
  fc.constantFrom('Read', 'Glob'),
  fc.constantFrom(
    '',
    ' ',
    'functions.Read',
    'read file',
    'Réad',
    '📖',
    '-',
    '9lives',
    '__proto__',
    'constructor',
    'mcp__a-very-long-name__'.padEnd(140, 'x'),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const jsonValues = fc
  .jsonValue({ maxDepth: 2, stringUnit: 'binary' })
  // Made plain, as what is read from a log is.
  .map((value): JsonValue => JSON.parse(JSON.stringify(value)));

const inputs: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant({ path: 'a' }),
  fc.constant({ path: 'half \ud83d', '\udc00': 1 }),
  jsonValues,
);

const malformedInputs = fc.constantFrom('{"pa', '', '\ud83d', '[1', '{"a":1}{"b":2}');

/** The bytes of every attachment; a history also names one whose bytes are gone. */
export const BLOBS: ReadonlyMap<string, Buffer> = new Map([
  ['1'.repeat(64), Buffer.from('png')],
  ['2'.repeat(64), Buffer.from('pdf')],
  ['3'.repeat(64), Buffer.from('gif')],
  ['4'.repeat(64), Buffer.from('webp')],
]);

const attachments: fc.Arbitrary<readonly Attachment[]> = fc.array(
  fc.constantFrom<Attachment>(
    { type: 'image/png', bytes: 3, width: 1, height: 1, tokens: 1, blob: '1'.repeat(64) },
    { type: 'application/pdf', bytes: 3, tokens: 1, blob: '2'.repeat(64) },
    { type: 'image/gif', bytes: 3, width: 1, height: 1, tokens: 1, blob: '3'.repeat(64) },
    { type: 'image/webp', bytes: 4, width: 1, height: 1, tokens: 1, blob: '4'.repeat(64) },
    { type: 'image/jpeg', bytes: 9, width: 1, height: 1, tokens: 1, blob: '9'.repeat(64) },
  ),
  { minLength: 1, maxLength: 2 },
);

/** A record in which the other keys can be absent. */
function recordWith<T, Key extends keyof T>(
  fields: { readonly [Name in keyof T]: fc.Arbitrary<T[Name]> },
  requiredKeys: Key[],
) {
  return fc.record(fields, { requiredKeys, noNullPrototype: true });
}

const userMessages: fc.Arbitrary<UserMessage> = fc.record({
  role: fc.constant('user'),
  content: fc.array(
    recordWith({ type: fc.constant('text'), text: texts, attachments }, ['type', 'text']),
    { maxLength: 3 },
  ),
});

const CALL = { type: fc.constant('tool_call'), id: callIds, name: callNames } as const;

/** An answer that was cut off, for one, has parts without metadata. */
function assistantParts({ text, reasoning, call }: Writer): fc.Arbitrary<AssistantPart> {
  return fc.oneof(
    recordWith({ type: fc.constant('text'), text: texts, meta: text }, ['type', 'text']),
    recordWith({ type: fc.constant('reasoning'), text: texts, meta: reasoning }, ['type', 'text']),
    recordWith({ ...CALL, input: inputs, meta: call }, ['type', 'id', 'name', 'input']),
    malformedInputs.chain((raw) =>
      recordWith({ ...CALL, input: fc.constant(raw), malformed: fc.constant(raw), meta: call }, [
        'type',
        'id',
        'name',
        'input',
        'malformed',
      ]),
    ),
  );
}

/** Older logs do not say who was asked for an answer. */
const assistantMessages: fc.Arbitrary<AssistantMessage> = fc
  .constantFrom(...WRITERS)
  .chain((writer) =>
    recordWith(
      {
        role: fc.constant('assistant'),
        content: fc.array(assistantParts(writer), { maxLength: 5 }),
        model: fc.constant(writer.model),
      },
      ['role', 'content'],
    ),
  );

interface ResultOf {
  readonly callId: string;
  readonly name: string;
}

function resultOf({ callId, name }: ResultOf): fc.Arbitrary<ToolResultPart> {
  return recordWith(
    {
      type: fc.constant('tool_result'),
      callId: fc.constant(callId),
      name: fc.constant(name),
      text: texts,
      isError: fc.boolean(),
      nonce: fc.constant('k3jd82'),
      attachments,
    },
    ['type', 'callId', 'name', 'text', 'isError'],
  );
}

const strayResults: fc.Arbitrary<ToolMessage> = fc
  .array(fc.record({ callId: callIds, name: callNames }).chain(resultOf), { maxLength: 3 })
  .map((content) => ({ role: 'tool', content }));

/** Most calls get their results; some results are lost, come twice, out of order or in several messages. */
function resultsFor({ content }: AssistantMessage): fc.Arbitrary<readonly ToolMessage[]> {
  const calls = content.filter((part) => part.type === 'tool_call');
  if (calls.length === 0) return fc.constant([]);
  const all = fc.tuple(...calls.map(({ id, name }) => resultOf({ callId: id, name })));
  const whole = all.map((parts): readonly ToolMessage[] => [{ role: 'tool', content: parts }]);
  const damaged = all
    .chain((parts) => fc.shuffledSubarray([...parts, ...parts]))
    .map((parts): readonly ToolMessage[] =>
      parts.map((part) => ({ role: 'tool', content: [part] })),
    );
  return fc.oneof({ weight: 3, arbitrary: whole }, damaged, fc.constant([]));
}

function toMessages(
  message: AssistantMessage,
  results: readonly ToolMessage[],
): readonly Message[] {
  return [message, ...results];
}

/** A message of the user, an answer with what became of its calls, or results of no calls. */
const turns: fc.Arbitrary<readonly Message[]> = fc.oneof(
  userMessages.map((message): readonly Message[] => [message]),
  {
    weight: 2,
    arbitrary: assistantMessages.chain((message) =>
      resultsFor(message).map((results): readonly Message[] => toMessages(message, results)),
    ),
  },
  strayResults.map((message): readonly Message[] => [message]),
);

/** Histories as any provider, crash, compaction or interruption can leave them. */
export const histories: fc.Arbitrary<readonly Message[]> = fc
  .array(turns, { maxLength: 7 })
  .map((parts) => parts.flat());
