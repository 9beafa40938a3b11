import { expect, test } from 'vitest';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { anthropicProtocol } from '../../../src/model/adapters/anthropic/anthropic-protocol.ts';
import { googleProtocol } from '../../../src/model/adapters/google/google-protocol.ts';
import { responsesProtocol } from '../../../src/model/adapters/openai-responses/responses-protocol.ts';
import type {
  AnswerReader,
  ProtocolAdapter,
} from '../../../src/model/adapters/protocol-adapter.ts';
import { googleSearch } from '../../../src/model/adapters/provider-search.ts';
import type { CitedPage } from '../../../src/protocol/web.ts';
import { messageText, userMessage } from '../../../src/protocol/message.ts';
import { adapterDeps, answerWith, collect, finished, request, serve } from './support.ts';

/** The provider's own search in one protocol, with the shapes that the vendor documents. */
interface Case {
  readonly protocol: ProtocolAdapter;
  readonly model: string;
  readonly events: readonly unknown[];
  /** The tools of the request, for the allowed domain `nodejs.org`. */
  readonly tools: readonly unknown[];
}

const DOCS = { url: 'https://nodejs.org/docs', title: 'Node.js docs' };

const CASES: readonly Case[] = [
  {
    protocol: anthropicProtocol,
    model: 'claude-haiku-5',
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 3,
        allowed_domains: ['nodejs.org'],
      },
    ],
    events: [
      {
        type: 'message_start',
        message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 9 } },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"query":"node 24"}' },
      },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            { type: 'web_search_result', ...DOCS, encrypted_content: 'x', page_age: 'May 2026' },
            { type: 'web_search_result', ...DOCS, encrypted_content: 'y', page_age: null },
          ],
        },
      },
      { type: 'content_block_stop', index: 1 },
      { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'It is out.' } },
      {
        type: 'content_block_delta',
        index: 2,
        delta: {
          type: 'citations_delta',
          citation: { type: 'web_search_result_location', url: DOCS.url, title: DOCS.title },
        },
      },
      { type: 'content_block_stop', index: 2 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 5, server_tool_use: { web_search_requests: 1 } },
      },
      { type: 'message_stop' },
    ],
  },
  {
    protocol: responsesProtocol,
    model: 'gpt-5-mini',
    tools: [{ type: 'web_search', filters: { allowed_domains: ['nodejs.org'] } }],
    events: [
      { type: 'response.created', response: { id: 'r', model: 'gpt-5-mini' } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'web_search_call', id: 'ws_1', status: 'in_progress' },
      },
      { type: 'response.web_search_call.in_progress', output_index: 0, item_id: 'ws_1' },
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      { type: 'response.web_search_call.completed', output_index: 0, item_id: 'ws_1' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          type: 'web_search_call',
          id: 'ws_1',
          status: 'completed',
          action: { type: 'search', query: 'node 24' },
        },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
      },
      {
        type: 'response.output_text.delta',
        output_index: 1,
        item_id: 'msg_1',
        content_index: 0,
        delta: 'It is out.',
      },
      {
        type: 'response.output_text.annotation.added',
        output_index: 1,
        item_id: 'msg_1',
        content_index: 0,
        annotation_index: 0,
        annotation: { type: 'url_citation', ...DOCS, start_index: 0, end_index: 9 },
      },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [
            {
              type: 'output_text',
              text: 'It is out.',
              annotations: [{ type: 'url_citation', ...DOCS }],
            },
          ],
        },
      },
      {
        type: 'response.completed',
        response: {
          id: 'r',
          status: 'completed',
          model: 'gpt-5-mini',
          usage: { input_tokens: 9, output_tokens: 5 },
          output: [],
        },
      },
    ],
  },
  {
    protocol: googleProtocol,
    model: 'gemini-3-flash',
    tools: [{ googleSearch: {} }],
    events: [
      { candidates: [{ content: { role: 'model', parts: [{ text: 'It is out.' }] } }] },
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              webSearchQueries: ['node 24'],
              groundingChunks: [{ web: { uri: DOCS.url, title: DOCS.title } }],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 },
      },
    ],
  },
];

const HI = [userMessage('Is Node 24 out?')];
const NO_TOOLS = { system: ['You search.'], tools: [] };

test.each(CASES)('$model searches only when it is told to', async (each) => {
  const { protocol, events, tools } = each;
  const model = { provider: 'test', id: each.model, chain: [] };
  await using server = await serve(answerWith(events));
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key-1234567890' };
  const port = createAdapter(protocol, endpoint, adapterDeps());
  const webSearch = { allowedDomains: ['nodejs.org'], blockedDomains: [] };
  const searched = finished(
    await collect(port, request(HI, { model, prefix: NO_TOOLS, webSearch })),
  );
  const { message, sources, searches } = searched;
  expect({ text: messageText(message), sources, searches }).toEqual({
    text: 'It is out.',
    sources: [DOCS],
    searches: 1,
  });
  const plain = finished(await collect(port, request(HI, { model, prefix: NO_TOOLS })));
  expect([plain.sources, plain.searches]).toEqual([undefined, undefined]);
  const bodies = server.requests.map(({ body }) => JSON.parse(body));
  expect(bodies.map((body) => body.tools)).toEqual([tools, undefined]);
});

test('the sources of Google name the sites to which their URLs redirect', () => {
  const redirect = 'https://vertexaisearch.cloud.google.com/grounding-api-redirect/';
  const pages = [
    { uri: `${redirect}1`, title: 'nodejs.org' },
    { uri: `${redirect}2`, title: 'A title' },
    { uri: DOCS.url, title: 'a.org' },
  ];
  const sources: CitedPage[] = [];
  const reader = { takeEvent: () => {} } as Partial<AnswerReader> as AnswerReader;
  const groundingChunks = pages.map((web) => ({ web }));
  googleSearch
    .collectSources(reader, {
      addSource: (source) => void sources.push(source),
      addSearch: () => {},
    })
    .takeEvent({ candidates: [{ groundingMetadata: { groundingChunks } }] }, '');
  expect(sources).toEqual([
    { url: `${redirect}1`, title: 'nodejs.org', site: 'nodejs.org' },
    { url: `${redirect}2`, title: 'A title', site: '' },
    { url: DOCS.url, title: 'a.org' },
  ]);
});
