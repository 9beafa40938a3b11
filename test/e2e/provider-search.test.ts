import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { lastResults, openWorld } from './world.ts';

const PAGES = [
  { url: 'https://nodejs.org/docs', title: 'Node.js docs' },
  { url: 'https://blog.example/node', title: 'A blog' },
];

const isConversation = ({ tools }: RecordedRequest): boolean =>
  tools.some(({ name }) => name === 'Read' || name === 'read_file');

const toolsOf = ({ body }: RecordedRequest): unknown =>
  (body as { readonly tools?: unknown }).tools;

/** A model that calls WebSearch, and whose provider finds the pages. */
const searching =
  (input: Readonly<Record<string, string | readonly string[]>>) => (request: RecordedRequest) => {
    if (!isConversation(request)) {
      return { search: { query: 'node 24', pages: PAGES }, text: 'Node 24 is out.' };
    }
    return toolResultRounds(request) > 0
      ? { text: 'done' }
      : { toolCalls: [{ name: 'WebSearch', input: { query: 'node 24', ...input } }] };
  };

const PROVIDERS = [
  {
    protocol: 'anthropic',
    ownTool: { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    blocks: (domain: string) => ({ blocked_domains: [domain] }),
    fee: 0.01,
  },
  {
    protocol: 'responses',
    ownTool: { type: 'web_search' },
    blocks: (domain: string) => ({ filters: { blocked_domains: [domain] } }),
    fee: 0.01,
  },
  {
    protocol: 'google',
    ownTool: { googleSearch: {} },
    blocks: () => ({}),
    fee: 0.014,
  },
] as const;

describe.concurrent.each(PROVIDERS)('WebSearch with the provider of $protocol', (provider) => {
  const { protocol, ownTool, blocks, fee } = provider;
  const ARGS = ['-p', 'go', '--allow', 'WebSearch', '--output-format', 'stream-json'];
  const ENV = { MUSTER_WEB_SEARCH: 'provider' };

  it('names the pages, counts the fee, and keeps the tool out of the conversation', async () => {
    await using world = await openWorld({ protocol, script: searching({}) });
    const run = await world.run(ARGS, { env: ENV });
    const text = lastResults(world.model)[0]?.text;
    for (const part of ['Node 24 is out.', ...PAGES.flatMap((page) => Object.values(page))]) {
      expect(text).toContain(part);
    }
    const apart = world.model.requests.filter((request) => !isConversation(request));
    expect(apart.map(toolsOf)).toEqual([[ownTool]]);
    for (const { body } of world.model.requests.filter(isConversation)) {
      expect(JSON.stringify(body)).not.toMatch(/"web_search|"googleSearch|web_search_call/);
    }
    const ended = eventsOf(run).find(({ type }) => type === 'request.ended');
    expect(ended).toMatchObject({ purpose: 'search for "node 24"', searches: 1 });
    const { costUsd = 0 } = ended as { readonly costUsd?: number };
    expect(costUsd).toBeGreaterThan(fee);
    expect(costUsd).toBeLessThan(fee + 0.01);
    // The price of the test model of one provider is not known, and then there is no total.
    expect(envelopeOf(run).data.cost_usd ?? Number.POSITIVE_INFINITY).toBeGreaterThan(fee);
  });

  it('shows neither pages of blocked domains nor a summary that may rest on them', async () => {
    const blocked_domains = ['blog.example'];
    await using world = await openWorld({ protocol, script: searching({ blocked_domains }) });
    await world.run(ARGS, { env: ENV });
    const text = lastResults(world.model)[0]?.text ?? '';
    expect(text).toContain('https://nodejs.org/docs');
    expect(text).not.toMatch(/blog|Node 24 is out/);
    const apart = world.model.requests.filter((request) => !isConversation(request));
    expect(apart.map(toolsOf)).toEqual([[{ ...ownTool, ...blocks('blog.example') }]]);
  });
});
