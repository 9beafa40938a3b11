import { describe, expect, it } from 'vitest';
import type { WebQuery } from '../../../src/protocol/web-search.ts';
import type { CitedPage } from '../../../src/protocol/web.ts';
import { searchByProvider } from '../../../src/web/search/provider-search.ts';

const search = async (
  sources: readonly CitedPage[],
  domains: Partial<WebQuery> = {},
  text = 'It says so.',
) =>
  await searchByProvider(
    { query: 'q', allowedDomains: [], blockedDomains: [], ...domains },
    { askModel: async () => ({ ok: true, text, sources }) },
  );

const page = (url: string, title = '') => ({ url, title, snippet: '', date: '' });

describe('the search of a provider', () => {
  it('returns clean sources and a clean summary', async () => {
    const title = `T\u001B]0;x\u0007\n${'y'.repeat(100_000)}`;
    const found = await search([page('https://a.org/x', title)], {}, 'S\u001B[31m');
    expect(found).toEqual({ summary: 'S', pages: [page('https://a.org/x', expect.any(String))] });
    expect(found.pages[0]?.title).toMatch(/^T[^\p{Cc}]{0,30} y{80,150}$/u);
  });

  it('leaves out what is no page of the web or not allowed, and a summary that may rest on it', async () => {
    const sources = [
      page('https://blocked.org./x'),
      page('https://www.blocked.org/'),
      page('javascript:alert(1)'),
      page(`https://a.org/${'a'.repeat(20_000)}`),
      page('https://a.org/'),
    ];
    const expected = { summary: '', pages: [page('https://a.org/')] };
    expect(await search(sources, { blockedDomains: ['blocked.org'] })).toEqual(expected);
    expect(await search(sources, { allowedDomains: ['a.org'] })).toEqual(expected);
  });

  it('judges a redirect of the provider by the site that it leads to', async () => {
    const redirect = (site: string) => ({ ...page(`https://redirect.example/${site}`), site });
    const sources = [redirect('a.org'), redirect('blocked.org'), redirect('')];
    const expected = { summary: '', pages: [page('https://redirect.example/a.org')] };
    expect(await search(sources, { blockedDomains: ['blocked.org'] })).toEqual(expected);
    expect(await search(sources, { allowedDomains: ['a.org'] })).toEqual(expected);
  });

  it('fails if the provider names no page', async () => {
    await expect(search([])).rejects.toThrow('The provider named no pages');
  });
});
