import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { CHAT_RULES } from '../../../src/testing/strict/check-request.ts';
import { CHAT_SERVER_RULES } from '../../../src/testing/strict/chat/vendors.ts';
import { checkBodies, testRules } from './support.ts';

const checkChat = checkBodies('chat');

const user = (content: JsonValue): JsonObject => ({ role: 'user', content });
const assistant = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content,
  ...more,
});
const spec = (more: JsonObject = {}): JsonObject => ({
  name: 'Read',
  arguments: '{"path":"a"}',
  ...more,
});
const call = (id: JsonValue, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: spec(more),
});
const calls = (...tool_calls: readonly JsonObject[]): JsonObject => assistant(null, { tool_calls });
const result = (tool_call_id: JsonValue, content: JsonValue = 'A'): JsonObject => ({
  role: 'tool',
  tool_call_id,
  content,
});
const tool = (more: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: {
    name: 'Read',
    description: 'Reads.',
    parameters: { type: 'object', properties: {} },
    ...more,
  },
});
function request(messages: JsonValue, more: JsonObject = {}): JsonObject {
  return {
    model: 'qwen3:8b',
    stream: true,
    stream_options: { include_usage: true },
    tools: [tool()],
    messages,
    ...more,
  };
}
const IMAGE: JsonObject = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,iVBORw==' },
};
const SYSTEM: JsonObject = { role: 'system', content: 'You are a test.' };

describe('any server', () => {
  testRules({
    rules: CHAT_RULES,
    check: (body) =>
      checkChat(body, {
        refusedParameters: ['parallel_tool_calls', 'messages.name'],
        refusedRoles: ['developer'],
      }),
    good: {
      'one message': request([SYSTEM, user('hi')]),
      'calls, their results in another order, and words': request([
        user('a'),
        calls(call('c1'), call('c2')),
        result('c2'),
        result('c1', ''),
        user('b'),
      ]),
      'the ids of an earlier answer again': request([
        user('a'),
        calls(call('c1')),
        result('c1'),
        calls(call('c1')),
        result('c1'),
      ]),
      'thoughts that the server has given': request([
        user('a'),
        assistant('b', { reasoning_content: 'hm' }),
        user('c'),
      ]),
      'an image': request([user([{ type: 'text', text: 'a' }, IMAGE])]),
      'the signature of a call': request([
        user('a'),
        calls({ ...call('c1'), extra_content: { google: { thought_signature: 'c2ln' } } }),
        result('c1'),
      ]),
    },
    broken: [
      {
        rule: 'chat/known-call-fields',
        name: 'a field of a call',
        body: request([
          user('a'),
          calls({ ...call('c1'), thoughtSignature: 'c2ln' }),
          result('c1'),
        ]),
        path: 'messages[1].tool_calls[0].thoughtSignature',
        message: "Unknown parameter: 'messages[1].tool_calls[0].thoughtSignature'.",
      },
      {
        rule: 'chat/known-call-fields',
        name: 'a field of its function',
        body: request([user('a'), calls(call('c1', { strict: true })), result('c1')]),
        path: 'messages[1].tool_calls[0].function.strict',
        message: "Unknown parameter: 'messages[1].tool_calls[0].function.strict'.",
      },
      {
        rule: 'chat/model-present',
        name: 'none',
        body: request([user('a')], { model: '' }),
        path: 'model',
        message: 'you must provide a model parameter',
      },
      {
        rule: 'chat/known-fields',
        name: 'a parameter',
        body: request([user('a')], { top_k: 5 }),
        path: 'top_k',
        message: 'Unrecognized request argument supplied: top_k',
      },
      {
        rule: 'chat/known-fields',
        name: 'a field of a message',
        body: request([{ ...user('a'), id: 'x' }]),
        path: 'messages[0].id',
        message: "Additional properties are not allowed ('id' was unexpected) - 'messages.0'",
      },
      {
        rule: 'chat/refused-parameter',
        name: 'a parameter',
        body: request([user('a')], { parallel_tool_calls: true }),
        path: 'parallel_tool_calls',
        message: 'Unrecognized request argument supplied: parallel_tool_calls',
      },
      {
        rule: 'chat/refused-parameter',
        name: 'a field of a message',
        body: request([{ ...user('a'), name: 'x' }]),
        path: 'messages[0].name',
        message: "property 'name' is unsupported",
      },
      {
        rule: 'chat/tool-form',
        name: 'an empty list',
        body: request([user('a')], { tools: [] }),
        path: 'tools',
        message: "Invalid 'tools': empty array",
      },
      {
        rule: 'chat/tool-form',
        name: 'no object',
        body: request([user('a')], { tools: [tool({ parameters: {} })] }),
        path: 'tools[0].function.parameters',
        message: 'schema must be a JSON Schema of \'type: "object"\', got \'type: "None"\'',
      },
      {
        rule: 'chat/tool-form',
        name: 'a list of nothing',
        body: request([user('a')], {
          tools: [tool({ parameters: { type: 'object', properties: { a: { type: 'array' } } } })],
        }),
        path: 'tools[0].function.parameters',
        message: "In context=('properties', 'a'), array schema missing items.",
      },
      {
        rule: 'chat/tool-form',
        name: 'no function',
        body: request([user('a')], { tools: [{ ...tool(), type: 'retrieval' }] }),
        path: 'tools[0].type',
        message: "Invalid value: 'retrieval'",
      },
      {
        rule: 'chat/tool-name-form',
        name: 'a dot',
        body: request([user('a')], { tools: [tool({ name: 'a.b' })] }),
        path: 'tools[0].function.name',
        message:
          "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      },
      {
        rule: 'chat/tool-name-form',
        name: 'too long',
        body: request([user('a')], { tools: [tool({ name: 'a'.repeat(74) })] }),
        path: 'tools[0].function.name',
        message:
          'string too long. Expected a string with maximum length 64, but got a string with length 74 instead.',
      },
      {
        rule: 'chat/tool-name-unique',
        name: 'twice the same',
        body: request([user('a')], { tools: [tool(), tool()] }),
        path: 'tools[1].function.name',
        message: 'Tool names must be unique.',
      },
      {
        rule: 'chat/tool-choice-with-tools',
        name: 'no tools',
        body: request([user('a')], { tools: undefined, tool_choice: 'none' }),
        path: 'tool_choice',
        message: "'tool_choice' is only allowed when 'tools' are specified",
      },
      {
        rule: 'chat/stream-options-with-stream',
        name: 'no stream',
        body: request([user('a')], { stream: false }),
        path: 'stream_options',
        message: "only allowed when 'stream' is enabled",
      },
      {
        rule: 'chat/messages-present',
        name: 'an empty list',
        body: request([]),
        path: 'messages',
        message: "Invalid 'messages': empty array",
      },
      {
        rule: 'chat/messages-present',
        name: 'none',
        body: request(null),
        path: 'messages',
        message: "Missing required parameter: 'messages'.",
      },
      {
        rule: 'chat/known-role',
        name: 'model',
        body: request([user('a'), { role: 'model', content: 'b' }]),
        path: 'messages[1].role',
        message: "Invalid value: 'model'. Supported values are: 'system', 'assistant'",
      },
      {
        rule: 'chat/refused-role',
        name: 'developer',
        body: request([{ role: 'developer', content: 'a' }, user('b')]),
        path: 'messages[0].role',
        message: 'Unexpected message role.',
      },
      {
        rule: 'chat/message-has-content',
        name: 'an answer without anything',
        body: request([user('a'), assistant(null)]),
        path: 'messages[1].content',
        message: "Invalid value for 'content': expected a string, got null.",
      },
      {
        rule: 'chat/message-has-content',
        name: 'a result without content',
        body: request([user('a'), calls(call('c1')), result('c1', null)]),
        path: 'messages[2].content',
        message: 'expected a string',
      },
      {
        rule: 'chat/content-not-empty-list',
        name: 'an empty list',
        body: request([user('a'), assistant([], { tool_calls: [call('c1')] }), result('c1')]),
        path: 'messages[1].content',
        message: "Invalid 'messages[1].content': empty array",
      },
      {
        rule: 'chat/part-fits-role',
        name: 'an image in a result',
        body: request([user('a'), calls(call('c1')), result('c1', [IMAGE])]),
        path: 'messages[2].content[0].type',
        message: "Invalid value: 'image_url'. Supported values are: 'text'.",
      },
      {
        rule: 'chat/text-part-not-empty',
        name: 'an empty part',
        body: request([user([{ type: 'text', text: '' }])]),
        path: 'messages[0].content[0].text',
        message: 'at least one parts field',
      },
      {
        rule: 'chat/well-formed-text',
        name: 'half a pair',
        body: request([user('\udc00a')]),
        path: 'messages[0].content',
        message: 'could not parse the JSON body',
      },
      {
        rule: 'chat/calls-answered',
        name: 'one result is missing',
        body: request([user('a'), calls(call('c1'), call('c2')), result('c1'), user('b')]),
        path: 'messages[1].tool_calls',
        message: 'The following tool_call_ids did not have response messages: c2',
      },
      {
        rule: 'chat/tool-message-asked-for',
        name: 'no calls',
        body: request([user('a'), result('c1')]),
        path: 'messages[1].role',
        message:
          "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
      },
      {
        rule: 'chat/tool-message-asked-for',
        name: 'another id',
        body: request([user('a'), calls(call('c1')), result('c1'), result('c9')]),
        path: 'messages[3].role',
        message: "'tool_call_id' of 'c9' not found",
      },
      {
        rule: 'chat/call-id-unique',
        name: 'two calls',
        body: request([user('a'), calls(call('c1'), call('c1')), result('c1')]),
        path: 'messages[1].tool_calls[1]',
        message: "Duplicate value for 'tool_call_id' of c1 in message[1]",
      },
      {
        rule: 'chat/call-id-unique',
        name: 'two results',
        body: request([user('a'), calls(call('c1')), result('c1'), result('c1')]),
        path: 'messages[3]',
        message: 'Duplicate value',
      },
      {
        rule: 'chat/call-id-length',
        name: 'too long',
        body: request([user('a'), calls(call('c'.repeat(41))), result('c'.repeat(41))]),
        path: 'messages[1].tool_calls[0].id',
        message:
          'string too long. Expected a string with maximum length 40, but got a string with length 41 instead.',
      },
      {
        rule: 'chat/call-id-length',
        name: 'empty',
        body: request([user('a'), calls(call('')), result('')]),
        path: 'messages[1].tool_calls[0].id',
        message: 'empty string',
      },
      {
        rule: 'chat/function-name-form',
        name: 'a space',
        body: request([user('a'), calls(call('c1', { name: 'read file' })), result('c1')]),
        path: 'messages[1].tool_calls[0].function.name',
        message: 'string does not match pattern',
      },
      {
        rule: 'chat/function-name-form',
        name: 'empty',
        body: request([user('a'), calls(call('c1', { name: '' })), result('c1')]),
        path: 'messages[1].tool_calls[0].function.name',
        message: 'empty string',
      },
      {
        rule: 'chat/arguments-json-text',
        name: 'an object',
        body: request([user('a'), calls(call('c1', { arguments: { path: 'a' } })), result('c1')]),
        path: 'messages[1].tool_calls[0].function.arguments',
        message: 'expected a string, but got an object instead',
      },
      {
        rule: 'chat/arguments-json-text',
        name: 'broken JSON',
        body: request([user('a'), calls(call('c1', { arguments: '{"pa' })), result('c1')]),
        path: 'messages[1].tool_calls[0].function.arguments',
        message: 'Can only get item pairs from a mapping.',
        status: 500,
      },
      {
        rule: 'chat/calls-not-empty',
        name: 'an empty list',
        body: request([user('a'), assistant('b', { tool_calls: [] })]),
        path: 'messages[1].tool_calls',
        message:
          "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
      },
    ],
  });

  it('answers in the form of OpenAI', () => {
    expect(
      checkChat(request([user('a'), calls(call('c'.repeat(41))), result('c'.repeat(41))]))[0]?.body,
    ).toEqual({
      error: {
        message: expect.stringContaining('string too long'),
        type: 'invalid_request_error',
        param: 'messages[1].tool_calls[0].id',
        code: 'string_above_max_length',
      },
    });
  });
});

it('names a refused system role as chat templates do', () => {
  const violations = checkChat(request([SYSTEM, user('a')]), { refusedRoles: ['system'] });
  expect(violations).toMatchObject([
    { rule: 'chat/refused-role', message: 'System role not supported' },
  ]);
});

it('openai: refuses a field of messages that other vendors have added', () => {
  const body = request([user('a'), assistant('b', { reasoning_content: 'hm' }), user('c')]);
  expect(checkChat(body, { chatServer: 'openai' })).toMatchObject([
    { rule: 'chat/known-fields', path: 'messages[1].reasoning_content' },
  ]);
});

it('openai: refuses the signature of a call, which is Google’s', () => {
  const signed = { ...call('c1'), extra_content: { google: { thought_signature: 'c2ln' } } };
  const body = request([user('a'), calls(signed), result('c1')]);
  expect(checkChat(body, { chatServer: 'openai' })).toMatchObject([
    { rule: 'chat/known-call-fields', path: 'messages[1].tool_calls[0].extra_content' },
  ]);
});

describe('openai', () => {
  const body = (more: JsonObject) => request([user('a')], { model: 'gpt-5.2', ...more });
  testRules({
    rules: CHAT_SERVER_RULES.openai,
    check: (each) => checkChat(each, { chatServer: 'openai' }),
    good: {
      'two system messages': request([SYSTEM, SYSTEM, user('a')]),
      'the limit of a model that reasons': body({ max_completion_tokens: 10, temperature: 1 }),
      'the limit of a model that does not reason': body({ model: 'gpt-4.1', max_tokens: 10 }),
      'a chat model of the new kind': body({ model: 'gpt-5.2-chat-latest', temperature: 0 }),
    },
    broken: [
      {
        rule: 'openai/parameters-of-model',
        name: 'max_tokens',
        body: body({ max_tokens: 10 }),
        path: 'max_tokens',
        message: "Use 'max_completion_tokens' instead.",
      },
      {
        rule: 'openai/parameters-of-model',
        name: 'a temperature',
        body: body({ model: 'o3', temperature: 0 }),
        path: 'temperature',
        message: "Unsupported parameter: 'temperature' is not supported with this model.",
      },
      {
        rule: 'openai/parameters-of-model',
        name: 'an effort',
        body: body({ model: 'gpt-4o', reasoning_effort: 'low' }),
        path: 'reasoning_effort',
        message: "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
      },
    ],
  });
});

describe('compatible', () => {
  testRules({
    rules: CHAT_SERVER_RULES.compatible,
    check: (body) => checkChat(body),
    good: { 'one system message': request([SYSTEM, user('a')]) },
    broken: [
      {
        rule: 'compatible/one-system-message',
        name: 'a second one',
        body: request([SYSTEM, SYSTEM, user('a')]),
        path: 'messages[1].role',
        message: 'System message must be at the beginning.',
      },
    ],
  });
});

describe('mistral', () => {
  const body = (messages: JsonValue, more: JsonObject = {}) =>
    request(messages, { model: 'mistral-large-latest', stream_options: undefined, ...more });
  testRules({
    rules: CHAT_SERVER_RULES.mistral,
    check: (checked) => checkChat(checked, { chatServer: 'mistral' }),
    good: {
      'a call, its result, an answer and words': body([
        user('a'),
        calls(call('abcDEF123')),
        result('abcDEF123'),
        assistant('b'),
        user('c'),
      ]),
      'a thought as a part of an answer': body([
        user('a'),
        assistant([
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
          { type: 'text', text: 'b' },
        ]),
        user('c'),
      ]),
    },
    broken: [
      {
        rule: 'mistral/call-id-form',
        name: 'the id of another vendor',
        body: body([user('a'), calls(call('call_1234')), result('call_1234')]),
        path: 'messages[1].tool_calls[0].id',
        message: 'Tool call id was call_1234 but must be a-z, A-Z, 0-9, with a length of 9.',
      },
      {
        rule: 'mistral/message-order',
        name: 'words after a result',
        body: body([user('a'), calls(call('abcDEF123')), result('abcDEF123'), user('b')]),
        path: 'messages[3].role',
        message: "Unexpected role 'user' after role 'tool'",
      },
      {
        rule: 'mistral/answer-not-empty',
        name: 'an empty answer',
        body: body([user('a'), assistant(''), user('b')]),
        path: 'messages[1]',
        message: 'must have either content or tool_calls',
      },
      {
        rule: 'mistral/last-message',
        name: 'an answer',
        body: body([user('a'), assistant('b')]),
        path: 'messages[1].role',
        message: 'Expected last role User or Tool',
      },
      {
        rule: 'mistral/known-fields',
        name: 'stream_options',
        body: body([user('a')], { stream_options: {} }),
        path: 'stream_options',
        message: 'Extra inputs are not permitted',
        status: 422,
      },
      {
        rule: 'mistral/known-fields',
        name: 'reasoning_content',
        body: body([user('a'), assistant('b', { reasoning_content: 'hm' }), user('c')]),
        path: 'messages[1].reasoning_content',
        message: 'Extra inputs are not permitted',
        status: 422,
      },
    ],
  });
});

describe('deepseek', () => {
  const body = (messages: JsonValue) => request(messages, { model: 'deepseek-reasoner' });
  testRules({
    rules: CHAT_SERVER_RULES.deepseek,
    check: (checked) => checkChat(checked, { chatServer: 'deepseek' }),
    good: {
      'calls with their thoughts': body([
        user('a'),
        assistant('', { reasoning_content: '', tool_calls: [call('c1')] }),
        result('c1'),
      ]),
      'calls of a model that does not think': {
        ...body([user('a'), calls(call('c1')), result('c1')]),
        model: 'deepseek-chat',
      },
    },
    broken: [
      {
        rule: 'deepseek/reasoning-with-calls',
        name: 'calls without thoughts',
        body: body([user('a'), calls(call('c1')), result('c1')]),
        path: 'messages[1].reasoning_content',
        message: 'Missing `reasoning_content` field in the assistant message at message index 1',
      },
      {
        rule: 'deepseek/text-only',
        name: 'an image',
        body: body([user([IMAGE])]),
        path: 'messages[0].content[0].type',
        message: 'unknown variant `image_url`, expected `text`',
      },
    ],
  });
});

describe('google', () => {
  const body = (messages: JsonValue) => request(messages, { model: 'gemini-3-pro-preview' });
  const signed = { ...call('c1'), extra_content: { google: { thought_signature: 'c2ln' } } };
  testRules({
    rules: CHAT_SERVER_RULES.google,
    check: (checked) => checkChat(checked, { chatServer: 'google' }),
    good: {
      'the first call of an answer with its signature': body([
        user('a'),
        calls(signed, call('c2')),
        result('c1'),
        result('c2'),
      ]),
      'calls before the last words of the user': body([
        user('a'),
        calls(call('c1')),
        result('c1'),
        user('b'),
      ]),
      'an earlier model': {
        ...body([user('a'), calls(call('c1')), result('c1')]),
        model: 'gemini-2.5-pro',
      },
    },
    broken: [
      {
        rule: 'google-chat/signature-present',
        name: 'a call without it',
        body: body([user('a'), calls(call('c1')), result('c1')]),
        path: 'messages[1].tool_calls[0]',
        message: 'Function call is missing a thought_signature in functionCall parts.',
      },
    ],
  });
});
