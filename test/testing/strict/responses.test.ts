import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { RESPONSES_RULES } from '../../../src/testing/strict/check-request.ts';
import { checkBodies, testRules } from './support.ts';

const checkResponses = checkBodies('responses');

const user = (content: JsonValue): JsonObject => ({ role: 'user', content });
const assistant = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content,
  ...more,
});
const call = (call_id: JsonValue, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  call_id,
  name: 'Read',
  arguments: '{}',
  ...more,
});
const output = (call_id: JsonValue, value: JsonValue = 'A'): JsonObject => ({
  type: 'function_call_output',
  call_id,
  output: value,
});
const reasoning = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'reasoning',
  id,
  summary: [],
  encrypted_content: 'enc',
  ...more,
});
const tool = (more: JsonObject = {}): JsonObject => ({
  type: 'function',
  name: 'Read',
  parameters: { type: 'object', properties: {} },
  strict: false,
  ...more,
});
function request(input: JsonValue, more: JsonObject = {}): JsonObject {
  return { model: 'gpt-6-sol', stream: true, store: false, tools: [tool()], input, ...more };
}
const text = (type: string, value = 'a'): JsonObject => ({ type, text: value });

testRules({
  rules: RESPONSES_RULES,
  check: (body) =>
    checkResponses(body, { refusedParameters: ['truncation'], refusedRoles: ['system'] }),
  good: {
    'a text': request('hi'),
    'messages in the short form': request([
      { role: 'developer', content: 'a' },
      user([text('input_text')]),
      assistant('b'),
      user('c'),
    ]),
    'reasoning, a call and its output': request([
      user('a'),
      reasoning('rs_1'),
      call('c1', { id: 'fc_1' }),
      output('c1'),
      user('b'),
    ]),
    'reasoning and an answer': request([
      user('a'),
      reasoning('rs_1'),
      assistant([text('output_text')], { type: 'message', id: 'msg_1' }),
      user('b'),
    ]),
    'reasoning after reasoning': request([
      user('a'),
      reasoning('rs_1'),
      reasoning('rs_2'),
      assistant('b'),
      user('c'),
    ]),
    'stored reasoning': request([user('a'), { type: 'item_reference', id: 'rs_1' }], {
      store: true,
    }),
    'an image in an output': request([
      user('a'),
      call('c1'),
      output('c1', [
        text('input_text'),
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw==' },
      ]),
    ]),
  },
  broken: [
    {
      rule: 'responses/required-parameters',
      name: 'no model',
      body: request('a', { model: undefined }),
      path: 'model',
      message: "Missing required parameter: 'model'.",
    },
    {
      rule: 'responses/required-parameters',
      name: 'no items',
      body: request([]),
      path: 'input',
      message: "Invalid 'input': empty array",
    },
    {
      rule: 'responses/known-fields',
      name: 'a parameter of the other protocol',
      body: request('a', { max_tokens: 100 }),
      path: 'max_tokens',
      message: "Unknown parameter: 'max_tokens'.",
    },
    {
      rule: 'responses/refused-parameter',
      name: 'a parameter',
      body: request('a', { truncation: 'auto' }),
      path: 'truncation',
      message: 'Unsupported parameter: truncation',
    },
    {
      rule: 'responses/refused-role',
      name: 'system',
      body: request([{ role: 'system', content: 'a' }, user('b')]),
      path: 'input[0].role',
      message: 'Unexpected message role.',
    },
    {
      rule: 'responses/parameters-of-model',
      name: 'a temperature for a model that reasons',
      body: request('a', { temperature: 0.5 }),
      path: 'temperature',
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
    },
    {
      rule: 'responses/parameters-of-model',
      name: 'an effort for a model that does not reason',
      body: request('a', { model: 'gpt-4.1', reasoning: { effort: 'low' } }),
      path: 'reasoning.effort',
      message: "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    },
    {
      rule: 'responses/cache-key-length',
      name: 'too long',
      body: request('a', { prompt_cache_key: 'k'.repeat(67) }),
      path: 'prompt_cache_key',
      message: 'Expected a string with maximum length 64, but got a string with length 67 instead.',
    },
    {
      rule: 'responses/least-output-tokens',
      name: 'ten',
      body: request('a', { max_output_tokens: 10 }),
      path: 'max_output_tokens',
      message: 'Expected a value >= 16, but got 10 instead.',
    },
    {
      rule: 'responses/tool-form',
      name: 'a list of nothing',
      body: request('a', {
        tools: [
          tool({
            parameters: { type: 'object', properties: { a: { anyOf: [{ type: 'array' }] } } },
          }),
        ],
      }),
      path: 'tools[0].parameters',
      message: "In context=('properties', 'a', 'anyOf', '0'), array schema missing items.",
    },
    {
      rule: 'responses/tool-name-form',
      name: 'a dot',
      body: request('a', { tools: [tool({ name: 'a.b' })] }),
      path: 'tools[0].name',
      message: 'string does not match pattern',
    },
    {
      rule: 'responses/tool-choice-with-tools',
      name: 'no tools',
      body: request('a', { tools: undefined, tool_choice: 'none' }),
      path: 'tool_choice',
      message: "only allowed when 'tools' are specified",
    },
    {
      rule: 'responses/known-item',
      name: 'an unknown type',
      body: request([user('a'), { type: 'tool_use' }]),
      path: 'input[1].type',
      message: "Invalid value: 'tool_use'.",
    },
    {
      rule: 'responses/known-item',
      name: 'an unknown field',
      body: request([user('a'), call('c1', { index: 0 }), output('c1')]),
      path: 'input[1].index',
      message: "Unknown parameter: 'input[1].index'.",
    },
    {
      rule: 'responses/known-role',
      name: 'tool',
      body: request([{ role: 'tool', content: 'a' }]),
      path: 'input[0].role',
      message: "Invalid value: 'tool'.",
    },
    {
      rule: 'responses/message-content',
      name: 'what only a user says',
      body: request([user('a'), assistant([text('input_text')]), user('b')]),
      path: 'input[1].content[0].type',
      message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    },
    {
      rule: 'responses/message-content',
      name: 'no parts',
      body: request([user([])]),
      path: 'input[0].content',
      message: 'empty array',
    },
    {
      rule: 'responses/item-id-form',
      name: 'the prefix of a call id',
      body: request([user('a'), call('call_1', { id: 'call_1' }), output('call_1')]),
      path: 'input[1].id',
      message: "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
    },
    {
      rule: 'responses/item-id-form',
      name: 'too long',
      body: request([user('a'), reasoning(`rs_${'a'.repeat(62)}`), assistant('b'), user('c')]),
      path: 'input[1].id',
      message: 'maximum length 64, but got a string with length 65',
    },
    {
      rule: 'responses/item-id-form',
      name: 'a dot',
      body: request([user('a'), reasoning('rs_1.2'), assistant('b'), user('c')]),
      path: 'input[1].id',
      message: 'letters, numbers, underscores, or dashes',
    },
    {
      rule: 'responses/item-id-unique',
      name: 'the same reasoning',
      body: request([user('a'), reasoning('rs_1'), reasoning('rs_1'), assistant('b'), user('c')]),
      path: 'input[2].id',
      message: 'Duplicate item found with id rs_1.',
    },
    {
      rule: 'responses/call-id-length',
      name: 'too long',
      body: request([user('a'), call('c'.repeat(116)), output('c'.repeat(116))]),
      path: 'input[1].call_id',
      message: 'maximum length 64, but got a string with length 116',
    },
    {
      rule: 'responses/call-id-length',
      name: 'empty',
      body: request([user('a'), call(''), output('')]),
      path: 'input[1].call_id',
      message: 'empty string',
    },
    {
      rule: 'responses/function-name-form',
      name: 'a dot',
      body: request([user('a'), call('c1', { name: 'functions.Read' }), output('c1')]),
      path: 'input[1].name',
      message: "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    },
    {
      rule: 'responses/arguments-json-text',
      name: 'an object',
      body: request([user('a'), call('c1', { arguments: {} }), output('c1')]),
      path: 'input[1].arguments',
      message: 'expected a string, but got an object',
    },
    {
      rule: 'responses/output-form',
      name: 'an object',
      body: request([user('a'), call('c1'), output('c1', { a: 1 })]),
      path: 'input[2].output',
      message: 'expected a string, but got an object',
    },
    {
      rule: 'responses/well-formed-text',
      name: 'half a pair',
      body: request('a\ud800'),
      path: 'input',
      message: 'could not parse the JSON body',
    },
    {
      rule: 'responses/call-answered',
      name: 'no output',
      body: request([user('a'), call('c1'), user('b')]),
      path: 'input[1]',
      message: 'No tool output found for function call c1.',
    },
    {
      rule: 'responses/output-asked-for',
      name: 'no call',
      body: request([user('a'), output('c1')]),
      path: 'input[1].call_id',
      message: 'No tool call found for function call output with call_id c1.',
    },
    {
      rule: 'responses/call-id-unique',
      name: 'two calls',
      body: request([user('a'), call('c1'), call('c1'), output('c1')]),
      path: 'input[2].call_id',
      message: 'Duplicate function_call',
    },
    {
      rule: 'responses/reasoning-followed',
      name: 'words of the user',
      body: request([user('a'), reasoning('rs_1'), user('b')]),
      path: 'input[1]',
      message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    },
    {
      rule: 'responses/reasoning-followed',
      name: 'nothing',
      body: request([user('a'), reasoning('rs_1')]),
      path: 'input[1]',
      message: 'without its required following item',
    },
    {
      rule: 'responses/reasoning-summary',
      name: 'none',
      body: request([
        user('a'),
        reasoning('rs_1', { summary: undefined }),
        assistant('b'),
        user('c'),
      ]),
      path: 'input[1].summary',
      message: "Missing required parameter: 'input[1].summary'.",
    },
    {
      rule: 'responses/nothing-stored',
      name: 'a reference',
      body: request([user('a'), { type: 'item_reference', id: 'msg_1' }, user('b')]),
      path: 'input[1]',
      message:
        "Item with id 'msg_1' not found. Items are not persisted when `store` is set to false.",
      status: 404,
    },
    {
      rule: 'responses/nothing-stored',
      name: 'reasoning that is not whole',
      body: request([
        user('a'),
        reasoning('rs_1', { encrypted_content: null }),
        assistant('b'),
        user('c'),
      ]),
      path: 'input[1]',
      message: "Item with id 'rs_1' not found",
      status: 404,
    },
  ],
});
