import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { FoundPage, WebSearchPort } from '../../protocol/web-search.ts';
import { parseWebUrl } from '../../web/parse-url.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';

const DOMAINS = { type: 'array', items: { type: 'string' } } as const;

/** Creates the tool that searches the web with the configured service. */
export function createWebSearchTool(search: WebSearchPort): AnyTool {
  const tool = defineBuiltinTool({
    name: 'WebSearch',
    kind: 'network',
    replay: 'pure',
    description: 'Search the web: titles, addresses and extracts. Read pages with WebFetch.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1 },
        allowed_domains: DOMAINS,
        blocked_domains: DOMAINS,
      },
      required: ['query'],
    },
    aliases: { q: 'query', search_term: 'query', include_domains: 'allowed_domains' },
    describe: () => ({ ...NO_ACCESS, onlyFetches: true }),
    async run({ query, allowed_domains: allowed = [], blocked_domains: blocked = [] }, context) {
      if (allowed.length > 0 && blocked.length > 0) {
        const message = 'allowed_domains and blocked_domains exclude each other: send one of them.';
        throw new MusterError('INVALID_PARAM', message);
      }
      const { pages, summary } = await search(
        {
          query,
          allowedDomains: readDomains('allowed_domains', allowed),
          blockedDomains: readDomains('blocked_domains', blocked),
        },
        context,
      );
      const lines = pages.map((page, index) => formatPage(page, index + 1));
      if (lines.length === 0 && summary === '') return { text: `[no results for "${query}"]` };
      return { text: [...(summary === '' ? [] : [summary]), ...lines].join('\n\n') };
    },
  });
  return tool;
}

/** Reads domains, which may be written as URLs of their pages. Throws INVALID_PARAM for a text that names none. */
function readDomains(field: string, texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const name = text.trim().replace(/^\*\./, '');
    const parsed = parseWebUrl(/^https?:\/\//i.test(name) ? name : `https://${name}`);
    if (parsed.ok) return parsed.url.hostname;
    const shown = JSON.stringify(truncate(text, MAX_SHOWN_DOMAIN));
    const message = `${field}: ${shown} is not a domain such as "example.org"`;
    throw new MusterError('INVALID_PARAM', message);
  });
}

const MAX_SHOWN_DOMAIN = 60;

function formatPage({ title, url, snippet, date }: FoundPage, number: number): string {
  const heading = `${number}. ${title === '' ? url : title}${date === '' ? '' : ` (${date})`}`;
  return [heading, url, ...(snippet === '' ? [] : [snippet])].join('\n');
}
