import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAttachmentRules } from '../../../../../src/model/catalogue/attachment-rules.ts';
import { createAdapter } from '../../../../../src/model/adapters/adapter.ts';
import { anthropicProtocol as anthropic } from '../../../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import type { ProtocolAdapter } from '../../../../../src/model/adapters/protocol-adapter.ts';
import { googleProtocol as google } from '../../../../../src/model/adapters/google/google-protocol.ts';
import { chatProtocol as chat } from '../../../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { responsesProtocol as responses } from '../../../../../src/model/adapters/openai-responses/responses-protocol.ts';
import type { ProtocolName } from '../../../../../src/model/settings/presets.ts';
import type { ModelRequest, ResolvedModel } from '../../../../../src/protocol/model.ts';
import {
  describeViolations,
  type BaseUrls,
  startFakeModel,
  type FakeModel,
  type StrictOptions,
} from '../../../../../src/testing/index.ts';
import { randomRuns } from '../../../../engine/random-runs.ts';
import { adapterDeps, collect, request } from '../../support.ts';
import { BLOBS, histories } from './histories.ts';

interface Receiver {
  readonly wire: Wire;
  /** `provider/id`. */
  readonly model: string;
  readonly effort?: ModelRequest['effort'];
  readonly strict?: StrictOptions;
}

interface Wire {
  readonly protocol: ProtocolName;
  readonly dialect: ProtocolAdapter;
  readonly served: keyof BaseUrls;
}

const ANTHROPIC: Wire = { protocol: 'anthropic', dialect: anthropic, served: 'anthropic' };
const RESPONSES: Wire = { protocol: 'openai-responses', dialect: responses, served: 'openai' };
const CHAT: Wire = { protocol: 'openai-chat', dialect: chat, served: 'compatible' };
const GOOGLE: Wire = { protocol: 'google', dialect: google, served: 'google' };

const { runs, test: limits } = randomRuns(60);

/** Servers whose rules every request has to keep. */
const TAKES_ALL: Readonly<Record<string, Receiver>> = {
  'Anthropic Messages': { wire: ANTHROPIC, model: 'anthropic/claude-sonnet-4-5' },
  'Anthropic Messages with adaptive thinking': {
    wire: ANTHROPIC,
    model: 'anthropic/claude-opus-4-6',
    effort: 'high',
  },
  'OpenAI Responses': { wire: RESPONSES, model: 'openai/gpt-5.2', effort: 'low' },
  'OpenAI Responses without reasoning': { wire: RESPONSES, model: 'openai/gpt-4.1' },
  'OpenAI Chat': { wire: CHAT, model: 'local/qwen3:8b' },
  'Google before Gemini 3': { wire: GOOGLE, model: 'google/gemini-2.5-pro' },
  'Google since Gemini 3': { wire: GOOGLE, model: 'google/gemini-3-pro-preview' },
};

test.each(Object.entries(TAKES_ALL))(
  'the first request built from any history is accepted by %s',
  limits,
  async (_name, receiver) => {
    await using server = await openServer(receiver);
    await fc.assert(
      fc.asyncProperty(histories, async (messages) => {
        const before = server.model.violations.length;
        const parts = await collect(server.adapter, asked(receiver, messages));
        expect(describeViolations(server.model.violations.slice(before))).toBe('');
        expect(parts.at(-1)?.type).toBe('finished');
      }),
      runs,
    );
  },
);

/** Servers of which an adapter learns by a refusal what its requests have to do without. */
const TAUGHT_BY_REFUSALS: Readonly<Record<string, Receiver>> = {
  'Anthropic Messages with a thinking budget': {
    wire: ANTHROPIC,
    model: 'anthropic/claude-sonnet-4-5',
    effort: 'high',
  },
  Mistral: {
    wire: CHAT,
    model: 'mistral/mistral-large-latest',
    strict: { chatServer: 'mistral' },
  },
  DeepSeek: {
    wire: CHAT,
    model: 'deepseek/deepseek-reasoner',
    strict: { chatServer: 'deepseek' },
  },
  'a server that knows few parameters': {
    wire: CHAT,
    model: 'local/llama3',
    strict: {
      chatServer: 'openai',
      refusedParameters: ['stream_options', 'parallel_tool_calls', 'tool_choice', 'max_tokens'],
      refusedRoles: ['system'],
    },
  },
};

test.each(Object.entries(TAUGHT_BY_REFUSALS))(
  'a request built from any history is accepted, perhaps after refusals, by %s',
  limits,
  async (_name, receiver) => {
    await using server = await openServer(receiver);
    await fc.assert(
      fc.asyncProperty(histories, async (messages) => {
        const before = server.model.violations.length;
        const parts = await collect(server.newAdapter(), asked(receiver, messages));
        const broken = describeViolations(server.model.violations.slice(before));
        expect(parts.at(-1)?.type, broken).toBe('finished');
      }),
      runs,
    );
  },
);

async function openServer({ wire, strict, model }: Receiver) {
  const server: FakeModel = await startFakeModel({ strict: strict ?? true, keepRequests: false });
  const { id, provider } = resolved(model);
  const deps = {
    ...adapterDeps(),
    attachments: async () => createAttachmentRules({ name: model, id, protocol: wire.protocol }),
  };
  const endpoint = { name: provider, baseUrl: server.baseUrls[wire.served], apiKey: 'k' };
  const newAdapter = () => createAdapter(wire.dialect, endpoint, deps);
  return {
    model: server,
    adapter: newAdapter(),
    newAdapter,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function resolved(model: string): ResolvedModel {
  const [provider = '', id = ''] = model.split('/');
  return { provider, id, chain: [] };
}

function asked({ model, effort }: Receiver, messages: ModelRequest['messages']): ModelRequest {
  return request(messages, {
    model: resolved(model),
    maxOutputTokens: 8000,
    readBlob: (hash) => BLOBS.get(hash) ?? null,
    ...(effort === undefined ? {} : { effort }),
  });
}
