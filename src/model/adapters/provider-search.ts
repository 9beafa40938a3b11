import type { JsonObject } from '../../base/json.ts';
import type { CitedPage, SearchDomains } from '../../protocol/web.ts';
import { asObject, asObjects } from './answers/json-fields.ts';
import type { ProviderSearch } from './protocol-adapter.ts';

/** The parts in which the searches of the protocols differ. */
interface SearchParts {
  buildFields(domains: SearchDomains): JsonObject;
  /** Reads the pages that one event of the answer, or a complete answer, names. */
  readSources(event: JsonObject): readonly CitedPage[];
}

function createSearch({ buildFields, readSources }: SearchParts): ProviderSearch {
  return {
    buildFields,
    collectSources: (reader, addSource) => ({
      get awaitsEnd() {
        return reader.awaitsEnd;
      },
      takeEvent(event, name) {
        readSources(event).forEach(addSource);
        reader.takeEvent(event, name);
      },
      takeDocument(response) {
        readSources(response).forEach(addSource);
        return reader.takeDocument(response);
      },
    }),
  };
}

/** The maximum number of searches of one request. Each costs about one US cent. */
const MAX_SEARCHES = 3;

/** https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool */
export const anthropicSearch = createSearch({
  buildFields: ({ allowedDomains, blockedDomains }) => ({
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: MAX_SEARCHES,
        ...(allowedDomains.length === 0 ? {} : { allowed_domains: allowedDomains }),
        ...(blockedDomains.length === 0 ? {} : { blocked_domains: blockedDomains }),
      },
    ],
  }),
  readSources: (event) => {
    const blocks = [asObject(event['content_block']) ?? {}, ...asObjects(event['content'])];
    return blocks
      .filter(({ type }) => type === 'web_search_tool_result')
      .flatMap(({ content }) => asObjects(content))
      .flatMap((page) => readSource(page['url'], page['title']));
  },
});

/** https://platform.openai.com/docs/guides/tools-web-search */
export const responsesSearch = createSearch({
  buildFields: ({ allowedDomains }) => ({
    tools: [
      {
        type: 'web_search',
        ...(allowedDomains.length === 0 ? {} : { filters: { allowed_domains: allowedDomains } }),
      },
    ],
  }),
  readSources: (event) => {
    const items = [
      asObject(event['item']) ?? {},
      ...asObjects((asObject(event['response']) ?? event)['output']),
    ];
    const annotations = [
      asObject(event['annotation']) ?? {},
      ...items
        .flatMap(({ content }) => asObjects(content))
        .flatMap((part) => asObjects(part['annotations'])),
    ];
    return annotations
      .filter(({ type }) => type === 'url_citation')
      .flatMap((each) => readSource(each['url'], each['title']));
  },
});

/** The host of the URLs that Google returns. They redirect to the pages, whose titles are the names of their hosts. */
const GOOGLE_REDIRECT = 'vertexaisearch.cloud.google.com';
const HOST_NAME = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}$/i;

function addGoogleSite({ url, title }: CitedPage): CitedPage {
  if (URL.parse(url)?.hostname !== GOOGLE_REDIRECT) return { url, title };
  return { url, title, site: HOST_NAME.test(title) ? title : '' };
}

/** https://ai.google.dev/gemini-api/docs/google-search */
export const googleSearch = createSearch({
  buildFields: () => ({ tools: [{ googleSearch: {} }] }),
  readSources: (event) =>
    asObjects((asObject(event['response']) ?? event)['candidates'])
      .flatMap((candidate) => {
        const metadata = asObject(candidate['groundingMetadata']);
        return asObjects(metadata?.['groundingChunks']);
      })
      .flatMap((chunk) => {
        const page = asObject(chunk['web']);
        return readSource(page?.['uri'], page?.['title']).map(addGoogleSite);
      }),
});

function readSource(url: unknown, title: unknown): readonly CitedPage[] {
  return typeof url === 'string' ? [{ url, title: typeof title === 'string' ? title : '' }] : [];
}
