import { expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { ANTHROPIC_RULES } from '../../../src/testing/strict/check-request.ts';
import { checkBodies, testRules } from './support.ts';

const checkAnthropic = checkBodies('anthropic');

type Blocks = readonly JsonObject[];

const text = (value: string): JsonObject => ({ type: 'text', text: value });
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'Read',
  input: { path: 'a' },
  ...more,
});
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'A',
  ...more,
});
const thought: JsonObject = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
const user = (content: JsonValue): JsonObject => ({ role: 'user', content });
const assistant = (content: JsonValue): JsonObject => ({ role: 'assistant', content });
const TOOL: JsonObject = {
  name: 'Read',
  description: 'Reads.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
};
const IMAGE = (media_type: string, data = 'iVBORw=='): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});

function request(messages: JsonValue, more: JsonObject = {}): JsonObject {
  return {
    model: 'claude-sonnet-5',
    max_tokens: 4000,
    stream: true,
    tools: [TOOL],
    messages,
    ...more,
  };
}
/** A person's words, an answer with calls, and what follows. */
const afterCalls = (calls: Blocks, ...rest: Blocks): JsonObject =>
  request([user('Where?'), assistant(calls), ...rest]);
const THINKING = { thinking: { type: 'enabled', budget_tokens: 2000 } };
const MARK = { cache_control: { type: 'ephemeral' } };

testRules({
  rules: ANTHROPIC_RULES,
  check: (body) => checkAnthropic(body),
  good: {
    'one message': request([user('hi')]),
    'successive messages of one role': request([
      user('a'),
      user([text('b')]),
      assistant('c'),
      assistant('d'),
      user('e'),
    ]),
    'a call and its result, then words': afterCalls(
      [text('Looking.'), call('t1')],
      user([result('t1'), text('Go on.')]),
    ),
    'results of an answer in several messages': afterCalls(
      [call('t1'), call('t2')],
      user([result('t2')]),
      user([result('t1'), text('x')]),
    ),
    'an empty result': afterCalls(
      [call('t1')],
      user([result('t1', { content: '', is_error: true })]),
    ),
    'an image in a result': afterCalls(
      [call('t1')],
      user([result('t1', { content: [text('see'), IMAGE('image/png')] })]),
    ),
    'thoughts, a call and its result': request(
      [user('a'), assistant([thought, call('t1')]), user([result('t1')])],
      THINKING,
    ),
    'further calls without a thought': request(
      [
        user('a'),
        assistant([thought, call('t1')]),
        user([result('t1')]),
        assistant([call('t2')]),
        user([result('t2')]),
      ],
      THINKING,
    ),
    'adaptive thinking without a thought before calls': request(
      [user('a'), assistant([call('t1')]), user([result('t1')])],
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ),
    'four marks of the cache': request([user([{ ...text('a'), ...MARK }])], {
      tools: [{ ...TOOL, ...MARK }],
      system: [
        { ...text('a'), ...MARK },
        { ...text('b'), ...MARK },
      ],
    }),
    'a begun answer for a model that takes it': request([user('a'), assistant('So')], {
      model: 'claude-sonnet-4-5',
    }),
    'a PDF': request([
      user([
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        },
      ]),
    ]),
  },
  broken: [
    {
      rule: 'anthropic/required-parameters',
      name: 'no max_tokens',
      body: request([user('hi')], { max_tokens: undefined }),
      path: 'max_tokens',
      message: 'max_tokens: Field required',
    },
    {
      rule: 'anthropic/required-parameters',
      name: 'no model',
      body: request([user('hi')], { model: '' }),
      path: 'model',
      message: 'model: Field required',
    },
    {
      rule: 'anthropic/known-fields',
      name: 'a parameter',
      body: request([user('hi')], { reasoning_effort: 'low' }),
      path: 'reasoning_effort',
      message: 'reasoning_effort: Extra inputs are not permitted',
    },
    {
      rule: 'anthropic/known-fields',
      name: 'a field of a block',
      body: request([user([{ ...text('a'), id: 'x' }])]),
      path: 'messages.0.content.0.id',
      message: 'messages.0.content.0.text.id: Extra inputs',
    },
    {
      rule: 'anthropic/known-fields',
      name: 'a field of a tool',
      body: request([user('a')], { tools: [{ ...TOOL, parameters: {} }] }),
      path: 'tools.0.parameters',
      message: 'tools.0.custom.parameters: Extra inputs',
    },
    {
      rule: 'anthropic/known-fields',
      name: 'a mark of the cache on a thought',
      body: request([user('a'), assistant([{ ...thought, ...MARK }, text('b')]), user('c')]),
      path: 'messages.1.content.0.cache_control',
      message: 'Extra inputs are not permitted',
    },
    {
      rule: 'anthropic/cache-marks',
      name: 'five',
      body: request([user(Array.from({ length: 5 }, () => ({ ...text('a'), ...MARK })))]),
      path: 'messages.0.content.4',
      message: 'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    },
    {
      rule: 'anthropic/tool-name-form',
      name: 'a dot',
      body: request([user('a')], { tools: [{ ...TOOL, name: 'functions.Read' }] }),
      path: 'tools.0.name',
      message: 'tools.0.custom.name: String should match pattern',
    },
    {
      rule: 'anthropic/tool-name-unique',
      name: 'twice the same',
      body: request([user('a')], { tools: [TOOL, TOOL] }),
      path: 'tools.1.name',
      message: 'Tool names must be unique',
    },
    {
      rule: 'anthropic/tool-schema',
      name: 'none',
      body: request([user('a')], { tools: [{ ...TOOL, input_schema: undefined }] }),
      path: 'tools.0.input_schema',
      message: 'input_schema: Field required',
    },
    {
      rule: 'anthropic/tool-schema',
      name: 'without type',
      body: request([user('a')], { tools: [{ ...TOOL, input_schema: {} }] }),
      path: 'tools.0.input_schema.type',
      message: 'input_schema.type: Field required',
    },
    {
      rule: 'anthropic/tool-schema',
      name: 'a choice at its top',
      body: request([user('a')], {
        tools: [{ ...TOOL, input_schema: { type: 'object', anyOf: [] } }],
      }),
      path: 'tools.0.input_schema',
      message: 'does not support oneOf, allOf, or anyOf',
    },
    {
      rule: 'anthropic/tool-schema',
      name: 'a name with a space',
      body: request([user('a')], {
        tools: [{ ...TOOL, input_schema: { type: 'object', properties: { 'a b': {} } } }],
      }),
      path: 'tools.0.input_schema.properties.a b',
      message: 'Property keys should match pattern',
    },
    {
      rule: 'anthropic/tool-choice-with-tools',
      name: 'no tools',
      body: request([user('a')], { tools: undefined, tool_choice: { type: 'none' } }),
      path: 'tool_choice',
      message: 'tool_choice may only be specified while providing tools',
    },
    {
      rule: 'anthropic/thinking-budget',
      name: 'too small',
      body: request([user('a')], { thinking: { type: 'enabled', budget_tokens: 1023 } }),
      path: 'thinking.budget_tokens',
      message: 'greater than or equal to 1024',
    },
    {
      rule: 'anthropic/thinking-budget',
      name: 'the whole answer',
      body: request([user('a')], { ...THINKING, max_tokens: 2000 }),
      path: 'thinking.budget_tokens',
      message: '`max_tokens` must be greater than',
    },
    {
      rule: 'anthropic/thinking-sampling',
      name: 'a temperature',
      body: request([user('a')], { ...THINKING, temperature: 0 }),
      path: 'temperature',
      message: 'may only be set to 1',
    },
    {
      rule: 'anthropic/thinking-sampling',
      name: 'top_k',
      body: request([user('a')], { ...THINKING, top_k: 5 }),
      path: 'top_k',
      message: '`top_k` must be unset',
    },
    {
      rule: 'anthropic/thinking-sampling',
      name: 'a forced tool',
      body: request([user('a')], { ...THINKING, tool_choice: { type: 'any' } }),
      path: 'tool_choice',
      message: 'forces tool use',
    },
    {
      rule: 'anthropic/messages-present',
      name: 'none',
      body: request([]),
      path: 'messages',
      message: 'at least one message',
    },
    {
      rule: 'anthropic/known-role',
      name: 'system',
      body: request([user('a'), { role: 'system', content: 'b' }, user('c')]),
      path: 'messages.1.role',
      message: 'Unexpected role "system"',
    },
    {
      rule: 'anthropic/first-message-of-user',
      name: 'an answer',
      body: request([assistant('a'), user('b')]),
      path: 'messages.0.role',
      message: 'first message must use the "user" role',
    },
    {
      rule: 'anthropic/message-not-empty',
      name: 'no blocks',
      body: request([user('a'), assistant([]), user('b')]),
      path: 'messages.1.content',
      message: 'messages.1: all messages must have non-empty content',
    },
    {
      rule: 'anthropic/message-not-empty',
      name: 'empty text',
      body: request([user('')]),
      path: 'messages.0.content',
      message: 'non-empty content',
    },
    {
      rule: 'anthropic/block-fits-role',
      name: 'a call of the user',
      body: request([user([call('t1')])]),
      path: 'messages.0.content.0',
      message: '`tool_use` blocks can not be in `user`',
    },
    {
      rule: 'anthropic/block-fits-role',
      name: 'an unknown block',
      body: request([user([{ type: 'input_text', text: 'a' }])]),
      path: 'messages.0.content.0',
      message: "Input tag 'input_text'",
    },
    {
      rule: 'anthropic/text-not-empty',
      name: 'beside a call',
      body: afterCalls([text(''), call('t1')], user([result('t1')])),
      path: 'messages.1.content.0.text',
      message: 'text content blocks must be non-empty',
    },
    {
      rule: 'anthropic/text-not-empty',
      name: 'in a result',
      body: afterCalls([call('t1')], user([result('t1', { content: [text('')] })])),
      path: 'messages.2.content.0.content.0.text',
      message: 'non-empty',
    },
    {
      rule: 'anthropic/text-not-blank',
      name: 'beside a call',
      body: afterCalls([text('\n\n'), call('t1')], user([result('t1')])),
      path: 'messages.1.content.0.text',
      message: 'text content blocks must contain non-whitespace text',
    },
    {
      rule: 'anthropic/text-not-blank',
      name: 'as the whole content',
      body: request([user(' ')]),
      path: 'messages.0.content.text',
      message: 'non-whitespace',
    },
    {
      rule: 'anthropic/last-answer-not-padded',
      name: 'a space',
      body: request([user('a'), assistant('So ')], { model: 'claude-3-5-haiku-latest' }),
      path: 'messages.1.content',
      message: 'final assistant content cannot end with trailing whitespace',
    },
    {
      rule: 'anthropic/last-message-of-user',
      name: 'an answer',
      body: request([user('a'), assistant('So')], { model: 'claude-opus-4-6' }),
      path: 'messages.1.role',
      message: 'does not support assistant message prefill',
    },
    {
      rule: 'anthropic/media-type',
      name: 'an SVG',
      body: request([user([IMAGE('image/svg+xml')])]),
      path: 'messages.0.content.0.source.media_type',
      message: "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    },
    {
      rule: 'anthropic/media-type',
      name: 'no bytes',
      body: request([user([IMAGE('image/png', '')])]),
      path: 'messages.0.content.0.source.data',
      message: 'valid base64',
    },
    {
      rule: 'anthropic/system-not-blank',
      name: 'empty',
      body: request([user('a')], { system: [text('a'), text('')] }),
      path: 'system.1',
      message: 'system: text content blocks must be non-empty',
    },
    {
      rule: 'anthropic/system-not-blank',
      name: 'white space',
      body: request([user('a')], { system: ' \n' }),
      path: 'system',
      message: 'non-whitespace',
    },
    {
      rule: 'anthropic/well-formed-text',
      name: 'half a pair',
      body: request([user('a\ud83d')]),
      path: 'messages[0].content',
      message: 'no low surrogate in string',
    },
    {
      rule: 'anthropic/tool-use-id-form',
      name: 'a dot and a colon',
      body: afterCalls([call('functions.Read:0')], user([result('functions.Read:0')])),
      path: 'messages.1.content.0.id',
      message: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    },
    {
      rule: 'anthropic/tool-use-id-form',
      name: 'empty',
      body: afterCalls([call('')], user([result('')])),
      path: 'messages.1.content.0.id',
      message: 'String should match pattern',
    },
    {
      rule: 'anthropic/tool-use-id-unique',
      name: 'in two answers',
      body: afterCalls(
        [call('t1')],
        user([result('t1')]),
        assistant([call('t1')]),
        user([result('t1')]),
      ),
      path: 'messages.3.content.0.id',
      message: 'messages.3.content.0: `tool_use` ids must be unique',
    },
    {
      rule: 'anthropic/tool-use-name-form',
      name: 'a dot',
      body: afterCalls([call('t1', { name: 'functions.Read' })], user([result('t1')])),
      path: 'messages.1.content.0.name',
      message: "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    },
    {
      rule: 'anthropic/tool-use-name-form',
      name: 'too long',
      body: afterCalls([call('t1', { name: 'a'.repeat(129) })], user([result('t1')])),
      path: 'messages.1.content.0.name',
      message: 'String should match pattern',
    },
    {
      rule: 'anthropic/tool-use-input-object',
      name: 'text',
      body: afterCalls([call('t1', { input: '{"pa' })], user([result('t1')])),
      path: 'messages.1.content.0.input',
      message: 'Input should be a valid dictionary',
    },
    {
      rule: 'anthropic/tool-use-answered',
      name: 'no results',
      body: afterCalls([call('t1')], user('Go on.')),
      path: 'messages.1.content.0',
      message:
        'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.',
    },
    {
      rule: 'anthropic/tool-use-answered',
      name: 'at the end',
      body: request([user('a'), assistant([call('t1')])], { model: 'kimi-k3' }),
      path: 'messages.1.content.0',
      message: 'without `tool_result`',
    },
    {
      rule: 'anthropic/tool-results-first',
      name: 'words before',
      body: afterCalls([call('t1')], user([text('Go on.'), result('t1')])),
      path: 'messages.1.content.0',
      message: 'without `tool_result` blocks immediately after',
    },
    {
      rule: 'anthropic/tool-results-first',
      name: 'words between',
      body: afterCalls(
        [call('t1'), call('t2')],
        user([result('t1'), text('x')]),
        user([result('t2')]),
      ),
      path: 'messages.1.content.1',
      message: 'immediately after: t2',
    },
    {
      rule: 'anthropic/tool-result-asked-for',
      name: 'no such call',
      body: request([user('a'), assistant('b'), user([result('t9')])]),
      path: 'messages.2.content.0.tool_use_id',
      message: 'unexpected `tool_use_id` found in `tool_result` blocks: t9.',
    },
    {
      rule: 'anthropic/tool-result-once',
      name: 'two',
      body: afterCalls([call('t1')], user([result('t1'), result('t1')])),
      path: 'messages.2.content.1.tool_use_id',
      message: 'each tool_use must have a single result',
    },
    {
      rule: 'anthropic/tool-use-last',
      name: 'text after it',
      body: afterCalls([call('t1'), text('Looking.')], user([result('t1')])),
      path: 'messages.1.content.0',
      message: 'immediately after: t1',
    },
    {
      rule: 'anthropic/tool-use-last',
      name: 'a further answer',
      body: afterCalls([call('t1')], assistant('Looking.'), user([result('t1')])),
      path: 'messages.1.content.0',
      message: 'immediately after: t1',
    },
    {
      rule: 'anthropic/thinking-signed',
      name: 'no signature',
      body: request([
        user('a'),
        assistant([{ type: 'thinking', thinking: 'hm' }, text('b')]),
        user('c'),
      ]),
      path: 'messages.1.content.0.signature',
      message: 'thinking.signature: Field required',
    },
    {
      rule: 'anthropic/thinking-signed',
      name: 'an empty one',
      body: request([user('a'), assistant([{ ...thought, signature: '' }, text('b')]), user('c')]),
      path: 'messages.1.content.0.signature',
      message: 'Invalid `signature`',
    },
    {
      rule: 'anthropic/thinking-before-calls',
      name: 'no thought',
      body: request([user('a'), assistant([call('t1')]), user([result('t1')])], THINKING),
      path: 'messages.1.content.0',
      message: 'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    },
    {
      rule: 'anthropic/thinking-first',
      name: 'text before',
      body: request([user('a'), assistant([text('b'), thought, text('c')]), user('d')], THINKING),
      path: 'messages.1.content.0',
      message: 'the first block must be `thinking`',
    },
    {
      rule: 'anthropic/thinking-not-last',
      name: 'a thought at the end',
      body: request([user('a'), assistant([thought])], { model: 'claude-haiku-4-5' }),
      path: 'messages.1.content.0',
      message: 'The final block in an assistant message cannot be `thinking`',
    },
  ],
});

it('names a cache mark on an empty text', () => {
  const violations = checkAnthropic(request([user([text('a'), { ...text(''), ...MARK }])]));
  expect(violations.map(({ message }) => message)).toContain(
    'messages.0.content.1.text: cache_control cannot be set for empty text blocks',
  );
});

it('answers in the form of the vendor', () => {
  expect(checkAnthropic(request([]))[0]?.body).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages: at least one message is required' },
  });
});
