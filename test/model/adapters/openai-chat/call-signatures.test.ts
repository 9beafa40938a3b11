import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/base/json.ts';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { chatProtocol } from '../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import {
  userMessage,
  type AssistantPart,
  type Message,
  type ToolResultPart,
} from '../../../../src/protocol/message.ts';
import { adapterDeps, collect, refuseWith, request, serve } from '../support.ts';

describe('openai-chat: calls of other models without a signature', () => {
  const call = (id: string, meta?: JsonObject): AssistantPart => ({
    type: 'tool_call',
    id,
    name: 'Glob',
    input: {},
    ...(meta === undefined ? {} : { meta }),
  });
  const SIGNED: JsonObject = { openaiCompatible: { thoughtSignature: 'sig' } };
  const OTHER: JsonObject = { anthropic: { signature: 'x' } };

  /** The signatures of the calls that are sent to a server at `baseUrl`, in order. */
  async function signatures(
    baseUrl: string,
    id: string,
    content: readonly AssistantPart[],
    model?: string,
  ) {
    await using server = await serve(refuseWith(400, { error: { message: 'enough' } }));
    const deps = adapterDeps();
    const port = createAdapter(
      chatProtocol,
      { name: 'test', baseUrl, apiKey: 'k' },
      // Google's address, and a server on this machine behind it.
      {
        ...deps,
        fetch: (url, init, observer) =>
          deps.fetch(`${server.url}${new URL(url).pathname}`, init, observer),
      },
    );
    const messages: readonly Message[] = [
      userMessage('Where?'),
      { role: 'assistant', content, ...(model === undefined ? {} : { model }) },
      {
        role: 'tool',
        content: content.flatMap((part): ToolResultPart[] =>
          part.type === 'tool_call'
            ? [{ type: 'tool_result', callId: part.id, name: part.name, text: 'x', isError: false }]
            : [],
        ),
      },
    ];
    await collect(port, request(messages, { model: { provider: 'test', id, chain: [] } }));
    const { messages: sent } = JSON.parse(server.requests[0]?.body ?? '') as {
      messages: { tool_calls?: { extra_content?: { google: { thought_signature: string } } }[] }[];
    };
    return sent.flatMap(({ tool_calls: calls = [] }) =>
      calls.map((one) => one.extra_content?.google.thought_signature),
    );
  }

  const GEMINI_API = 'https://generativelanguage.googleapis.com/v1beta/openai';
  const VERTEX =
    'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi';
  const SKIP = 'skip_thought_signature_validator';

  test.each([
    [GEMINI_API, 'gemini-3-pro-preview', [SKIP, SKIP]],
    [GEMINI_API, 'models/gemini-3.5-flash', [SKIP, SKIP]],
    [GEMINI_API, 'gemini-flash-latest', [SKIP, SKIP]],
    [VERTEX, 'google/gemini-3-pro', [SKIP, SKIP]],
    [GEMINI_API, 'gemini-2.5-pro', [undefined, undefined]],
    [GEMINI_API, 'gemini-2-flash', [undefined, undefined]],
    [GEMINI_API, 'gemma-3-27b-it', [undefined, undefined]],
    ['https://openrouter.ai/api/v1', 'google/gemini-3-pro', [undefined, undefined]],
    [
      'https://generativelanguage.googleapis.com.evil.example/v1',
      'gemini-3-pro',
      [undefined, undefined],
    ],
  ] as const)('%s, %s', async (baseUrl, id, expected) => {
    expect(await signatures(baseUrl, id, [call('c1', OTHER), call('c2')], 'other/model')).toEqual(
      expected,
    );
  });

  test('are those before the first signed one in an own answer', async () => {
    const ask = (...content: readonly AssistantPart[]) =>
      signatures(GEMINI_API, 'gemini-3-pro', content, 'test/gemini-3-pro');
    expect(await ask(call('c1', SIGNED), call('c2'))).toEqual(['sig', undefined]);
    expect(await ask(call('c1'), call('c2', SIGNED))).toEqual([SKIP, 'sig']);
    expect(await ask(call('c1'), call('c2'))).toEqual([SKIP, SKIP]);
  });

  test('never get the signature of another model', async () => {
    const sent = await signatures(
      GEMINI_API,
      'gemini-3-pro',
      [call('c1', SIGNED)],
      'test/gemini-3-flash',
    );
    expect(sent).toEqual([SKIP]);
  });
});
