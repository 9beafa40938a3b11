import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { lastResults, openWorld } from '../e2e/world.ts';
import { serve } from '../model/adapters/support.ts';
import { DEFAULT_WEB_LIMITS } from '../../src/web/limits.ts';
import { expectShown, findBlocks, findTranscripts, readPage, runInShell } from './page.ts';

const page = readPage('docs/web.md');
const section = page.split('## HttpRequest\n')[1]?.split('\n## ')[0] ?? '';
const [refused, sent, ...others] = findTranscripts(section);
const [definition = ''] = findBlocks(section, 'markdown');
const [result = ''] = section.split('```\nHTTP')[1]?.split('\n```') ?? [];

it('docs/web.md shows the real output of HttpRequest', async () => {
  await using tracker = await serve((response, { body }) => {
    const { title } = JSON.parse(body) as { readonly title: string };
    response.writeHead(201, { 'content-type': 'application/json', location: '/issues/7' });
    response.end(JSON.stringify({ id: 7, title, state: 'open' }));
  });
  const port = `:${new URL(tracker.url).port}/`;
  const input = { url: `http://localhost${port}issues`, json: { title: 'The build fails' } };
  const script = (request: RecordedRequest): Answer => {
    if (toolResultRounds(request) === 0) return { toolCalls: [{ name: 'HttpRequest', input }] };
    const results = request.messages.flatMap(({ toolResults = [] }) => toolResults);
    const isOpen = results.some(({ text }) => text.includes('"id": 7'));
    return { text: isOpen ? 'Issue 7 is open.' : 'I may not send requests to localhost.' };
  };
  const files = { '.muster/agents/tracker.md': definition.replace(':8080/', port) };
  await using world = await openWorld({ script, files });
  expect(others).toEqual([]);
  const env = world.model.env('anthropic');
  await runInShell(world.sandbox, 'muster trust add --yes .', env);
  for (const { command, shown } of [refused!, sent!]) {
    // oxlint-disable-next-line no-await-in-loop -- one run after another
    const { output } = await runInShell(world.sandbox, command, env);
    expectShown(output.replaceAll(port, ':8080/'), shown);
  }
  expect(lastResults(world.model)[0]?.text).toBe(`HTTP${result}`);
  expect(tracker.connections()).toBe(1);
});

it('docs/web.md shows the limits', () => {
  const { connectMs, totalMs, bodyBytes, headerBytes, redirects, connectionsPerHost, retryWaitMs } =
    DEFAULT_WEB_LIMITS;
  const limits = page.slice(page.indexOf('\n## Limits'));
  const rows = [...limits.matchAll(/^\| [^|]+ \| (\d[^|]*) \|/gm)].map(([, value]) => value);
  expect(rows).toEqual([
    `${connectMs / 1_000} s each`,
    `${totalMs / 1_000} s`,
    `${bodyBytes / 1024 / 1024} MB`,
    `${headerBytes / 1024} KB`,
    String(redirects),
    String(connectionsPerHost),
    `${retryWaitMs / 1_000} s`,
  ]);
});
