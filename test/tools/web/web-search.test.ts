import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tool.ts';
import type { WebQuery } from '../../../src/protocol/web-search.ts';
import { createWebSearchTool } from '../../../src/tools/web/web-search.ts';

/** Runs the tool with these allowed domains. Returns the query that the search got, and the output. */
async function searchWithin(domains: readonly string[]) {
  let seen: WebQuery | undefined;
  const tool = createWebSearchTool(async (query) => {
    seen = query;
    return { pages: [], summary: '' };
  });
  const output = await tool.run({ query: 'q', allowed_domains: domains }, {
    signal: new AbortController().signal,
  } as ToolContext);
  return { seen, output };
}

describe('the domains of a search', () => {
  it.each([
    ['a.org', 'a.org'],
    ['*.A.org', 'a.org'],
    ['a.org.', 'a.org'],
    ['https://a.org/path?x=1', 'a.org'],
    ['a.org/path', 'a.org'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
  ])('are read as hosts: %s', async (text, host) => {
    expect((await searchWithin([text])).seen).toEqual({
      query: 'q',
      allowedDomains: [host],
      blockedDomains: [],
    });
  });

  it.each(['', ' ', '.', 'a b', 'https://'])(
    'are refused if they name no host: "%s"',
    async (text) => {
      expect(await searchWithin([text])).toEqual({
        seen: undefined,
        output: {
          text: `allowed_domains: ${JSON.stringify(text)} is not a domain such as "example.org"`,
          error: 'INVALID_PARAM',
        },
      });
    },
  );
});
