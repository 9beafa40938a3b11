import { createServer } from 'node:http';
import { once } from 'node:events';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SearchServiceName, WebQuery } from '../../../src/protocol/web-search.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import { searchWeb } from '../../../src/web/search/search-web.ts';
import { SERVICES } from '../../../src/web/search/search-services.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A search service on this machine that gives one answer. */
async function serveAnswer(answer: unknown, status = 200) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    seen,
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const QUERY: WebQuery = { query: 'node 24', allowedDomains: [], blockedDomains: [] };
const signal = new AbortController().signal;
const options = { fetch: createHttpFetch({}), signal };

const search = (service: SearchServiceName, baseUrl: string, query = QUERY) =>
  searchWeb({ service, access: { baseUrl, key: 'key-1' } }, query, options);

/** The answer of each service as its documentation shows it, for two pages. */
const ANSWERS: Readonly<Record<SearchServiceName, unknown>> = {
  brave: {
    type: 'search',
    web: {
      results: [
        {
          title: 'Node.js 24',
          url: 'https://nodejs.org/blog',
          description: '<strong>Node</strong> 24 is out',
          page_age: '2026-05-06',
        },
        { title: 'Evil', url: 'https://evil.example/', description: 'x' },
      ],
    },
  },
  tavily: {
    query: 'node 24',
    results: [
      {
        title: 'Node.js 24',
        url: 'https://nodejs.org/blog',
        content: 'Node 24 is out',
        score: 0.9,
        published_date: '2026-05-06',
      },
      { title: 'Evil', url: 'https://evil.example/', content: 'x', score: 0.1 },
    ],
  },
  exa: {
    requestId: 'r',
    results: [
      {
        title: 'Node.js 24',
        url: 'https://nodejs.org/blog',
        publishedDate: '2026-05-06',
        highlights: ['Node 24 is out'],
      },
      { title: 'Evil', url: 'https://evil.example/', highlights: ['x'] },
    ],
  },
  serper: {
    searchParameters: { q: 'node 24' },
    organic: [
      {
        title: 'Node.js 24',
        link: 'https://nodejs.org/blog',
        snippet: 'Node 24 is out',
        date: '2026-05-06',
        position: 1,
      },
      { title: 'Evil', link: 'https://evil.example/', snippet: 'x', position: 2 },
    ],
  },
  searxng: {
    query: 'node 24',
    results: [
      {
        title: 'Node.js 24',
        url: 'https://nodejs.org/blog',
        content: 'Node 24 is out',
        publishedDate: '2026-05-06',
      },
      { title: 'Evil', url: 'https://evil.example/', content: 'x' },
    ],
  },
};

/** The request that each service gets, without the fields that all of them have. */
const REQUESTS: Readonly<Record<SearchServiceName, unknown>> = {
  brave: {
    method: 'GET',
    url: '/res/v1/web/search?q=node%2024%20-site%3Aevil.example&count=10',
    key: ['x-subscription-token', 'key-1'],
    body: '',
  },
  tavily: {
    method: 'POST',
    url: '/search',
    key: ['authorization', 'Bearer key-1'],
    body: {
      query: 'node 24',
      max_results: 10,
      include_domains: [],
      exclude_domains: ['evil.example'],
    },
  },
  exa: {
    method: 'POST',
    url: '/search',
    key: ['x-api-key', 'key-1'],
    body: {
      query: 'node 24',
      numResults: 10,
      contents: { highlights: true },
      excludeDomains: ['evil.example'],
    },
  },
  serper: {
    method: 'POST',
    url: '/search',
    key: ['x-api-key', 'key-1'],
    body: { q: 'node 24 -site:evil.example', num: 10 },
  },
  searxng: {
    method: 'GET',
    url: '/search?q=node%2024%20-site%3Aevil.example&format=json',
    key: null,
    body: '',
  },
};

const KEY_HEADERS = ['x-subscription-token', 'authorization', 'x-api-key'];

test.each(Object.keys(SERVICES) as SearchServiceName[])('%s', async (service) => {
  await using server = await serveAnswer(ANSWERS[service]);
  const query = { ...QUERY, blockedDomains: ['evil.example'] };
  expect(await search(service, server.baseUrl, query)).toEqual([
    {
      url: 'https://nodejs.org/blog',
      title: 'Node.js 24',
      snippet: 'Node 24 is out',
      date: '2026-05-06',
    },
  ]);
  const [request] = server.seen;
  const name = KEY_HEADERS.find((each) => request?.headers[each] !== undefined);
  expect({
    method: request?.method,
    url: request?.url,
    key: name === undefined ? null : [name, request?.headers[name]],
    body: request?.body.startsWith('{') === true ? JSON.parse(request.body) : request?.body,
  }).toEqual(REQUESTS[service]);
});

test('only pages of the allowed domains and their subdomains are returned', async () => {
  const urls = [
    'https://docs.rs/a',
    'https://x.docs.rs/b',
    'https://notdocs.rs/',
    'https://docs.rs.evil.example/',
    'ftp://docs.rs/',
    'javascript:alert(1)',
    'nonsense',
  ];
  await using server = await serveAnswer({ results: urls.map((url) => ({ url, title: 't' })) });
  const query = { ...QUERY, allowedDomains: ['docs.rs'] };
  const found = await search('searxng', server.baseUrl, query);
  expect(found.map(({ url }) => url)).toEqual(['https://docs.rs/a', 'https://x.docs.rs/b']);
});

test('texts are cleaned and cut, and there are at most ten pages', async () => {
  const results = Array.from({ length: 50 }, (_, index) => ({
    url: `https://example.org/${index}`,
    title: `<b>a</b>\n\u001b[2Jb${'x'.repeat(5_000)}`,
    content: `${'y'.repeat(10_000)}`,
  }));
  await using server = await serveAnswer({ results });
  const found = await search('searxng', server.baseUrl);
  expect(found).toHaveLength(10);
  expect(found[0]?.title).toMatch(/^a ⟨?/);
  expect(found[0]?.title).not.toContain('\u001b');
  expect(
    Math.max(...found.map(({ title, snippet }) => title.length + snippet.length)),
  ).toBeLessThan(600);
});

test.each<[SearchServiceName, number, unknown, string]>([
  ['brave', 401, 'no', 'brave answered HTTP 401. The key is not accepted: check BRAVE_API_KEY.'],
  ['tavily', 402, 'no', 'tavily answered HTTP 402. The account has no credit left.'],
  ['exa', 429, 'no', 'exa answered HTTP 429. Too many searches: try again later.'],
  ['serper', 500, 'oh\u0007 no', 'serper answered HTTP 500. oh⟨U+0007⟩ no'],
  [
    'searxng',
    403,
    'no',
    'searxng answered HTTP 403. The instance does not allow the format json (search.formats in its settings).',
  ],
  [
    'searxng',
    200,
    '<html>',
    'searxng sent no list of results. Does it allow the format json (search.formats)?',
  ],
  ['exa', 200, { results: 7 }, 'exa sent no list of results.'],
  [
    'exa',
    200,
    `"${'x'.repeat(3_000_000)}"`,
    'The answer of the search service is longer than 2000000 bytes.',
  ],
])('%s with status %i', async (service, status, answer, message) => {
  await using server = await serveAnswer(answer, status);
  await expect(search(service, server.baseUrl)).rejects.toThrow(message);
});

test('a service that cannot be reached is named with its address', async () => {
  await expect(search('searxng', 'http://127.0.0.1:1')).rejects.toThrow(
    'searxng cannot be reached at http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
  );
});

test('any answer gives a list of pages or an error with a message', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...(Object.keys(SERVICES) as SearchServiceName[])),
      fc.jsonValue(),
      async (service, answer) => {
        const { readResults } = SERVICES[service];
        const pages = readResults(answer as never);
        expect(pages === undefined || Array.isArray(pages)).toBe(true);
      },
    ),
  );
});
