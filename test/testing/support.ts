import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { afterEach } from 'vitest';
import {
  startFakeModel,
  type FakeModel,
  type FakeModelOptions,
  type WireProtocol,
} from '../../src/testing/index.ts';

const open: FakeModel[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()));
});

/** A fake model that is closed after the test. */
export async function fakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const fake = await startFakeModel(options);
  open.push(fake);
  return fake;
}

/** The installed provider package of a protocol, pointed at the server. */
export function clientOf(protocol: WireProtocol, { baseUrls }: FakeModel): LanguageModelV4 {
  const apiKey = 'test';
  switch (protocol) {
    case 'anthropic':
      return createAnthropic({ apiKey, baseURL: baseUrls.anthropic })('claude-sonnet-4-5');
    case 'responses':
      return createOpenAI({ apiKey, baseURL: baseUrls.openai }).responses('gpt-5');
    case 'chat':
      return createOpenAICompatible({
        name: 'compatible',
        apiKey,
        baseURL: baseUrls.compatible,
        includeUsage: true,
      })('some-model');
    case 'google':
      return createGoogle({ apiKey, baseURL: baseUrls.google })('gemini-3-pro-preview');
  }
}

export const TOOL = {
  type: 'function',
  name: 'Read',
  description: 'Reads a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
} as const;

export function userPrompt(text: string, system = 'You are a test.'): LanguageModelV4Prompt {
  return [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text }] },
  ];
}

/** What a stream said, put together. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | null;
  readonly errors: readonly unknown[];
}

export async function listen(
  model: LanguageModelV4,
  options: Partial<LanguageModelV4CallOptions> = {},
): Promise<Heard> {
  const { stream } = await model.doStream({ prompt: userPrompt('hello'), ...options });
  let text = '';
  let reasoning = '';
  let finish: Heard['finish'] = null;
  const calls = [];
  const errors = [];
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.delta;
    else if (part.type === 'reasoning-delta') reasoning += part.delta;
    else if (part.type === 'tool-call') {
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input });
    } else if (part.type === 'finish') finish = part;
    else if (part.type === 'error') errors.push(part.error);
  }
  return { text, reasoning, calls, finish, errors };
}
