import { expect, it } from 'vitest';
import { anthropicProtocol as anthropic } from '../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { googleProtocol as google } from '../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import {
  classifyFinishReason,
  type AnswerEnding,
} from '../../../../src/model/adapters/answers/finish-reasons.ts';
import { readQuirk } from '../read-answer.ts';

it.each<readonly [reason: string, ending: AnswerEnding]>([
  ['stop', 'stop'],
  ['STOP', 'stop'],
  ['end-turn', 'stop'],
  ['eos', 'stop'],
  ['TOOL_CALLS', 'tool_calls'],
  ['model_length', 'length'],
  ['MAX_TOKENS', 'length'],
  ['safety', 'content_filter'],
  ['content_filter', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['model_context_window_exceeded', 'overflow'],
  ['context_window_full', 'overflow'],
  ['MALFORMED_FUNCTION_CALL', 'malformed'],
  ['malformed_tool_call', 'malformed'],
  ['abort', 'malformed'],
  ['request_timeout', 'malformed'],
  ['insufficient_system_resource', 'malformed'],
  ['TOO_MANY_TOOL_CALLS', 'malformed'],
  ['network_error', 'malformed'],
  ['something_new', 'other'],
  ['constructor', 'other'],
])('%s means %s', (reason, ending) => {
  expect(classifyFinishReason(reason)).toBe(ending);
});

const chatEnd = (reason: string) => [
  { choices: [{ delta: { content: 'hi' } }] },
  { choices: [{ delta: {}, finish_reason: reason }] },
];
const anthropicEnd = (reason: string) => [
  { type: 'message_start', message: {} },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: reason } },
  { type: 'message_stop' },
];
const responsesEnd = (reason: string) => [
  { type: 'response.output_text.delta', output_index: 0, delta: 'hi' },
  {
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason }, output: [] },
  },
];
const googleEnd = (reason: string) => [
  { candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: reason }] },
];
const PROTOCOLS = [
  { protocol: 'chat', dialect: chat, model: 'qwen3-coder', end: chatEnd },
  { protocol: 'anthropic', dialect: anthropic, model: 'claude-sonnet-5', end: anthropicEnd },
  { protocol: 'responses', dialect: responses, model: 'gpt-5', end: responsesEnd },
  { protocol: 'google', dialect: google, model: 'gemini-2.5-pro', end: googleEnd },
];

it.each(PROTOCOLS)('$protocol accepts a reason in another spelling', async ({ end, ...asked }) => {
  expect(await readQuirk(asked, end('MAX_TOKENS'))).toMatchObject({ text: 'hi', reason: 'length' });
});

it.each(PROTOCOLS)('$protocol fails if the server broke the answer', async ({ end, ...asked }) => {
  const read = await readQuirk(asked, end('malformed_function_call'));
  expect(read.failed).toContain('the answer ended with malformed_function_call');
});

it.each(PROTOCOLS)('$protocol fails if the context window is full', async ({ end, ...asked }) => {
  const read = await readQuirk(asked, end('model_context_window_exceeded'));
  expect(read.failed).toContain('model_context_window_exceeded');
});
