import { anthropicProtocol as anthropic } from '../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import type { ProtocolAdapter } from '../../../src/model/adapters/protocol-adapter.ts';
import { googleProtocol as google } from '../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as openaiChat } from '../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as openaiResponses } from '../../../src/model/adapters/openai-responses/responses-protocol.ts';
import type { AssistantMessage } from '../../../src/protocol/message.ts';
import type { Usage } from '../../../src/protocol/model.ts';

export interface Wire {
  readonly name: string;
  readonly dialect: ProtocolAdapter;
  readonly model: string;
  readonly path: string;
  /** An answer with reasoning, text beyond ASCII, and two calls of the same tool. */
  readonly answer: readonly unknown[];
  readonly message: AssistantMessage;
  readonly usage: Usage;
  /** An answer of one call with these raw arguments. */
  readonly call: (rawArguments: string) => readonly unknown[];
  /** An error that comes as the second event of a stream. */
  readonly errorInside: readonly unknown[];
  /** An answer without its end, in a body that ends in order. */
  readonly cutOff: readonly unknown[];
  /** Whether the protocol has an event that ends each answer. */
  readonly hasEndEvent: boolean;
}

const TEXT = 'Grüße, 世界 🌍!';

function claude(blocks: readonly unknown[], stop: string): readonly unknown[] {
  return [
    {
      type: 'message_start',
      message: {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        model: 'claude-sonnet-5-20260101',
        content: [],
        stop_reason: null,
        usage: {
          input_tokens: 10,
          output_tokens: 1,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
        },
      },
    },
    { type: 'ping' },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason: stop },
      usage: { output_tokens: 30 },
    },
    { type: 'message_stop' },
  ];
}

function claudeBlock(index: number, block: unknown, deltas: readonly unknown[]): unknown[] {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function claudeCall(index: number, id: string, pieces: readonly string[]): unknown[] {
  return claudeBlock(
    index,
    { type: 'tool_use', id, name: 'Read', input: {} },
    pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
}

const claudeText = claudeBlock(1, { type: 'text', text: '' }, [
  { type: 'text_delta', text: TEXT.slice(0, 5) },
  { type: 'text_delta', text: TEXT.slice(5) },
]);

const ANTHROPIC: Wire = {
  name: 'anthropic',
  dialect: anthropic,
  model: 'claude-sonnet-5',
  path: '/messages',
  answer: claude(
    [
      ...claudeBlock(0, { type: 'thinking', thinking: '' }, [
        { type: 'thinking_delta', thinking: 'Let me' },
        { type: 'thinking_delta', thinking: ' see.' },
        { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
      ]),
      ...claudeText,
      ...claudeCall(2, 'toolu_1', ['{"path":', '"a.ts"}']),
      ...claudeCall(3, 'toolu_2', ['{"path":"b.ts"', ',"limit":3}']),
    ],
    'tool_use',
  ),
  message: {
    role: 'assistant',
    content: [
      {
        type: 'reasoning',
        text: 'Let me see.',
        meta: { anthropic: { signature: 'c2lnbmF0dXJl' } },
      },
      { type: 'text', text: TEXT },
      { type: 'tool_call', id: 'toolu_1', name: 'Read', input: { path: 'a.ts' } },
      {
        type: 'tool_call',
        id: 'toolu_2',
        name: 'Read',
        input: { path: 'b.ts', limit: 3 },
      },
    ],
  },
  usage: { input: 10, output: 30, cacheRead: 100, cacheWrite: 20, reasoning: 0 },
  call: (raw) => claude(claudeCall(0, 'toolu_1', [raw]), 'tool_use'),
  errorInside: [
    ...claude([], 'end_turn').slice(0, 1),
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  ],
  cutOff: claude(claudeText, 'end_turn').slice(0, -2),
  hasEndEvent: true,
};

function responseEvents(items: readonly unknown[]): readonly unknown[] {
  return [
    {
      type: 'response.created',
      response: { id: 'resp_1', created_at: 1, model: 'gpt-6-sol-2026-01-01' },
    },
    ...items,
    {
      type: 'response.completed',
      response: {
        id: 'resp_1',
        usage: {
          input_tokens: 130,
          input_tokens_details: { cached_tokens: 100 },
          output_tokens: 30,
          output_tokens_details: { reasoning_tokens: 12 },
        },
      },
    },
  ];
}

function responseText(index: number): unknown[] {
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
  return [
    { type: 'response.output_item.added', output_index: index, item },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: TEXT.slice(0, 5) },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: TEXT.slice(5) },
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function responseCall(index: number, id: string, raw: string): unknown[] {
  const item = { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'Read', arguments: '' };
  return [
    { type: 'response.output_item.added', output_index: index, item },
    {
      type: 'response.function_call_arguments.delta',
      item_id: item.id,
      output_index: index,
      delta: raw,
    },
    {
      type: 'response.output_item.done',
      output_index: index,
      item: { ...item, arguments: raw, status: 'completed' },
    },
  ];
}

const RESPONSES: Wire = {
  name: 'openai-responses',
  dialect: openaiResponses,
  model: 'gpt-6-sol',
  path: '/responses',
  answer: responseEvents([
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'first' },
    },
    { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      summary_index: 0,
      delta: 'Let me see.',
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'ZW5jcnlwdGVk' },
    },
    ...responseText(1),
    ...responseCall(2, 'call_1', '{"path":"a.ts"}'),
    ...responseCall(3, 'call_2', '{"path":"b.ts","limit":3}'),
  ]),
  message: {
    role: 'assistant',
    content: [
      {
        type: 'reasoning',
        text: 'Let me see.',
        meta: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'ZW5jcnlwdGVk' } },
      },
      { type: 'text', text: TEXT, meta: { openai: { itemId: 'msg_1' } } },
      {
        type: 'tool_call',
        id: 'call_1',
        name: 'Read',
        input: { path: 'a.ts' },
        meta: { openai: { itemId: 'fc_call_1' } },
      },
      {
        type: 'tool_call',
        id: 'call_2',
        name: 'Read',
        input: { path: 'b.ts', limit: 3 },
        meta: { openai: { itemId: 'fc_call_2' } },
      },
    ],
  },
  usage: { input: 30, output: 30, cacheRead: 100, cacheWrite: 0, reasoning: 12 },
  call: (raw) => responseEvents(responseCall(0, 'call_1', raw)),
  errorInside: [
    ...responseEvents(responseText(0)).slice(0, 3),
    {
      type: 'response.failed',
      response: { error: { code: 'server_error', message: 'Overloaded' } },
    },
  ],
  cutOff: responseEvents(responseText(0)).slice(0, 4),
  hasEndEvent: true,
};

function chunk(delta: unknown, finish: string | null = null): unknown {
  return {
    id: 'chat_1',
    created: 1,
    model: 'qwen3:8b',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

function chatCall(index: number, id: string, pieces: readonly string[]): unknown[] {
  return [
    chunk({
      tool_calls: [{ index, id, type: 'function', function: { name: 'Read', arguments: '' } }],
    }),
    ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

function chatEnd(reason: string): unknown[] {
  return [
    chunk({}, reason),
    {
      id: 'chat_1',
      choices: [],
      usage: {
        prompt_tokens: 130,
        completion_tokens: 30,
        prompt_tokens_details: { cached_tokens: 100 },
      },
    },
    'data: [DONE]\n\n',
  ];
}

const CHAT: Wire = {
  name: 'openai-chat',
  dialect: openaiChat,
  model: 'qwen3:8b',
  path: '/chat/completions',
  answer: [
    ': waiting for a worker\n\n',
    chunk({ role: 'assistant', reasoning_content: 'Let me' }),
    chunk({ reasoning_content: ' see.' }),
    chunk({ content: TEXT.slice(0, 5) }),
    chunk({ content: TEXT.slice(5) }),
    ...chatCall(0, 'call_1', ['{"path":', '"a.ts"}']),
    ...chatCall(1, 'call_2', ['{"path":"b.ts"', ',"limit":3}']),
    ...chatEnd('tool_calls'),
  ],
  message: {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: TEXT },
      { type: 'tool_call', id: 'call_1', name: 'Read', input: { path: 'a.ts' } },
      { type: 'tool_call', id: 'call_2', name: 'Read', input: { path: 'b.ts', limit: 3 } },
    ],
  },
  usage: { input: 30, output: 30, cacheRead: 100, cacheWrite: 0, reasoning: 0 },
  call: (raw) => [...chatCall(0, 'call_1', [raw]), ...chatEnd('tool_calls')],
  errorInside: [chunk({ content: 'Hel' }), { error: { message: 'Overloaded', code: 529 } }],
  cutOff: [chunk({ content: TEXT })],
  hasEndEvent: false,
};

function gemini(parts: readonly unknown[], finishReason?: string): unknown {
  return {
    candidates: [{ content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
    modelVersion: 'gemini-3.8-flash',
    usageMetadata: {
      promptTokenCount: 130,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 18,
      thoughtsTokenCount: 12,
      totalTokenCount: 160,
    },
  };
}

const GOOGLE: Wire = {
  name: 'google',
  dialect: google,
  model: 'gemini-3.8-flash',
  path: '/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
  answer: [
    gemini([{ text: 'Let me', thought: true }]),
    gemini([{ text: ' see.', thought: true, thoughtSignature: 'dGhvdWdodA==' }]),
    gemini([{ text: TEXT.slice(0, 5) }]),
    gemini([{ text: TEXT.slice(5) }]),
    gemini([
      {
        functionCall: { id: 'fc_1', name: 'Read', args: { path: 'a.ts' } },
        thoughtSignature: 'Y2FsbA==',
      },
      { functionCall: { id: 'fc_2', name: 'Read', args: { path: 'b.ts', limit: 3 } } },
    ]),
    gemini([], 'STOP'),
  ],
  message: {
    role: 'assistant',
    content: [
      {
        type: 'reasoning',
        text: 'Let me see.',
        meta: { google: { thoughtSignature: 'dGhvdWdodA==' } },
      },
      { type: 'text', text: TEXT },
      {
        type: 'tool_call',
        id: 'fc_1',
        name: 'Read',
        input: { path: 'a.ts' },
        meta: { google: { thoughtSignature: 'Y2FsbA==' } },
      },
      { type: 'tool_call', id: 'fc_2', name: 'Read', input: { path: 'b.ts', limit: 3 } },
    ],
  },
  usage: { input: 30, output: 30, cacheRead: 100, cacheWrite: 0, reasoning: 12 },
  call: () => [gemini([{ text: '' }], 'MALFORMED_FUNCTION_CALL')],
  errorInside: [gemini([{ text: 'Hel' }]), { error: { code: 503, message: 'Overloaded' } }],
  cutOff: [gemini([{ text: TEXT }])],
  hasEndEvent: false,
};

export const WIRES: readonly Wire[] = [ANTHROPIC, RESPONSES, CHAT, GOOGLE];
