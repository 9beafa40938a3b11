import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { GOOGLE_RULES } from '../../../src/testing/strict/check-request.ts';
import { checkBodies, testRules } from './support.ts';

const checkGoogle = checkBodies('google', 'gemini-3-pro-preview');

const user = (...parts: readonly JsonObject[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: readonly JsonObject[]): JsonObject => ({ role: 'model', parts });
const text = (value: string, more: JsonObject = {}): JsonObject => ({ text: value, ...more });
const SIGNED = { thoughtSignature: 'c2ln' };
const call = (name: JsonValue, more: JsonObject = SIGNED, args: JsonValue = {}): JsonObject => ({
  functionCall: { name, args },
  ...more,
});
const response = (name: JsonValue, value: JsonValue = { content: 'A' }): JsonObject => ({
  functionResponse: { name, response: value },
});
const declared = (...functionDeclarations: readonly JsonObject[]): JsonObject => ({
  tools: [{ functionDeclarations }],
});
function request(contents: JsonValue, more: JsonObject = {}): JsonObject {
  return {
    contents,
    generationConfig: {},
    ...declared({ name: 'Read', parametersJsonSchema: { type: 'object' } }),
    ...more,
  };
}
const schema = (parameters: JsonObject): JsonObject =>
  request([user(text('a'))], declared({ name: 'Read', parameters }));
const image = (mimeType: string): JsonObject => ({ inlineData: { mimeType, data: 'iVBORw==' } });

testRules({
  rules: GOOGLE_RULES,
  check: (body) => checkGoogle(body),
  good: {
    'one content': request([user(text('a'))], { systemInstruction: { parts: [text('b')] } }),
    'a call, its response, and words': request([
      user(text('a')),
      model(text('b'), call('Read')),
      user(response('Read')),
      user(text('c')),
    ]),
    'several calls with one signature': request([
      user(text('a')),
      model(call('Read'), call('Glob', {})),
      user(response('Read'), response('Glob')),
    ]),
    'calls of an earlier turn without signature': request([
      user(text('a')),
      model(call('Read', {})),
      user(response('Read')),
      model(text('b')),
      user(text('c')),
    ]),
    'a placeholder in place of a signature': request([
      user(text('a')),
      model(call('Read', { thoughtSignature: 'skip_thought_signature_validator' })),
      user(response('Read')),
    ]),
    'a signature on an empty text': request([
      user(text('a')),
      model(text('b'), text('', SIGNED)),
      user(text('c')),
    ]),
    'an image': request([user(text('a'), image('image/webp'))]),
  },
  broken: [
    {
      rule: 'google/known-fields',
      name: 'a parameter of another vendor',
      body: request([user(text('a'))], { max_tokens: 1 }),
      path: 'max_tokens',
      message: 'Unknown name "max_tokens": Cannot find field.',
    },
    {
      rule: 'google/declaration-name-form',
      name: 'a digit first',
      body: request([user(text('a'))], declared({ name: '1a' })),
      path: 'tools[0].function_declarations[0].name',
      message: 'Invalid function name. Must start with a letter or an underscore.',
    },
    {
      rule: 'google/declaration-name-unique',
      name: 'twice the same',
      body: request([user(text('a'))], declared({ name: 'a' }, { name: 'a' })),
      path: 'tools[0].function_declarations[1].name',
      message: 'Duplicate function declaration found: a',
    },
    {
      rule: 'google/one-kind-of-schema',
      name: 'both',
      body: request(
        [user(text('a'))],
        declared({ name: 'a', parameters: { type: 'OBJECT' }, parametersJsonSchema: {} }),
      ),
      path: 'tools[0].function_declarations[0]',
      message: 'only one of parameters',
    },
    {
      rule: 'google/schema-keywords',
      name: 'a keyword',
      body: schema({ type: 'object', additionalProperties: false }),
      path: 'tools[0].function_declarations[0].parameters.additionalProperties',
      message: 'Unknown name "additionalProperties" at',
    },
    {
      rule: 'google/schema-keywords',
      name: 'several types',
      body: schema({ type: 'object', properties: { a: { type: ['string', 'null'] } } }),
      path: 'tools[0].function_declarations[0].parameters.properties.a.type',
      message: 'Proto field is not repeating, cannot start list.',
    },
    {
      rule: 'google/schema-keywords',
      name: 'a list of nothing',
      body: schema({ type: 'object', properties: { a: { type: 'array' } } }),
      path: 'tools[0].function_declarations[0].parameters.properties.a.items',
      message: 'items: missing field.',
    },
    {
      rule: 'google/schema-keywords',
      name: 'a required property that is none',
      body: schema({ type: 'object', required: ['a'] }),
      path: 'tools[0].function_declarations[0].parameters.required[0]',
      message: 'property is not defined',
    },
    {
      rule: 'google/contents-present',
      name: 'none',
      body: request([]),
      path: 'contents',
      message: 'contents is not specified',
    },
    {
      rule: 'google/known-role',
      name: 'assistant',
      body: request([user(text('a')), { role: 'assistant', parts: [text('b')] }, user(text('c'))]),
      path: 'contents[1].role',
      message: 'Please use a valid role: user, model.',
    },
    {
      rule: 'google/first-content-of-user',
      name: 'an answer',
      body: request([model(text('a')), user(text('b'))]),
      path: 'contents[0].role',
      message: "First content should be with role 'user'",
    },
    {
      rule: 'google/last-content-of-user',
      name: 'an answer',
      body: request([user(text('a')), model(text('b'))]),
      path: 'contents[1].role',
      message: 'end with a user role',
    },
    {
      rule: 'google/parts-present',
      name: 'none',
      body: request([user(text('a')), model(), user(text('b'))]),
      path: 'contents[1].parts',
      message: 'contents.parts must not be empty',
    },
    {
      rule: 'google/part-has-data',
      name: 'nothing',
      body: request([user(text('a')), model({}), user(text('b'))]),
      path: 'contents[1].parts[0]',
      message:
        "contents[1].parts[0].data: required oneof field 'data' must have one initialized field",
    },
    {
      rule: 'google/part-has-data',
      name: 'an empty text',
      body: request([user(text('a')), model(text('')), user(text('b'))]),
      path: 'contents[1].parts[0]',
      message: 'must have one initialized field',
    },
    {
      rule: 'google/part-has-data',
      name: 'an empty text in the system prompt',
      body: request([user(text('a'))], { systemInstruction: { parts: [text('')] } }),
      path: 'system_instruction.parts[0]',
      message: 'GenerateContentRequest.system_instruction.parts[0].data',
    },
    {
      rule: 'google/media-type',
      name: 'a GIF',
      body: request([user(image('image/gif'))]),
      path: 'contents[0].parts[0]',
      message: 'Unsupported MIME type: image/gif',
    },
    {
      rule: 'google/well-formed-text',
      name: 'half a pair',
      body: request([user(text('a\ud800'))]),
      path: 'contents[0].parts[0].text',
      message: 'Invalid UTF-8',
    },
    {
      rule: 'google/call-after-user',
      name: 'after an answer',
      body: request([
        user(text('a')),
        model(text('b')),
        model(call('Read')),
        user(response('Read')),
      ]),
      path: 'contents[2]',
      message: 'function call turn comes immediately after a user turn',
    },
    {
      rule: 'google/response-after-call',
      name: 'after words',
      body: request([user(text('a')), model(text('b')), user(response('Read'))]),
      path: 'contents[2]',
      message: 'function response turn comes immediately after a function call turn',
    },
    {
      rule: 'google/as-many-responses-as-calls',
      name: 'one is missing',
      body: request([
        user(text('a')),
        model(call('Read'), call('Glob', {})),
        user(response('Read')),
      ]),
      path: 'contents[2]',
      message: 'number of function response parts is equal to the number of function call parts',
    },
    {
      rule: 'google/as-many-responses-as-calls',
      name: 'words instead',
      body: request([user(text('a')), model(call('Read')), user(text('b'))]),
      path: 'contents[2]',
      message: 'number of function response parts',
    },
    {
      rule: 'google/function-name-form',
      name: 'a space',
      body: request([user(text('a')), model(call('read file')), user(response('Read'))]),
      path: 'contents[1].parts[0].function_call.name',
      message: 'Invalid function name',
    },
    {
      rule: 'google/function-name-form',
      name: 'empty',
      body: request([user(text('a')), model(call('Read')), user(response(''))]),
      path: 'contents[2].parts[0].function_response.name',
      message: 'function_response.name: Name cannot be empty.',
    },
    {
      rule: 'google/function-data-objects',
      name: 'arguments that are text',
      body: request([user(text('a')), model(call('Read', SIGNED, 'x')), user(response('Read'))]),
      path: 'contents[1].parts[0].function_call.args',
      message: 'google.protobuf.Struct',
    },
    {
      rule: 'google/function-data-objects',
      name: 'a response that is text',
      body: request([user(text('a')), model(call('Read')), user(response('Read', 'A'))]),
      path: 'contents[2].parts[0].function_response.response',
      message: 'google.protobuf.Struct',
    },
    {
      rule: 'google/signature-base64',
      name: 'an ellipsis',
      body: request([
        user(text('a')),
        model(call('Read', { thoughtSignature: 'abc…' })),
        user(response('Read')),
      ]),
      path: 'contents[1].parts[0].thought_signature',
      message: '(TYPE_BYTES), Base64 decoding failed for "abc…"',
    },
    {
      rule: 'google/signature-base64',
      name: 'two that were joined',
      body: request([
        user(text('a')),
        model(call('Read', { thoughtSignature: 'dTBoZ0I=RXBz' })),
        user(response('Read')),
      ]),
      path: 'contents[1].parts[0].thought_signature',
      message: 'Base64 decoding failed',
    },
    {
      rule: 'google/signature-present',
      name: 'a call of this turn',
      body: request([user(text('a')), model(call('Read', {})), user(response('Read'))]),
      path: 'contents[1].parts[0]',
      message: 'Function call is missing a thought_signature in functionCall parts.',
    },
  ],
});
