import type { JsonObject } from '../../base/json.ts';
import { MAX_PROVIDER_SEARCHES, type CitedPage, type SearchDomains } from '../../protocol/web.ts';
import { asObject, asObjects } from './answers/json-fields.ts';
import type { ProviderSearch } from './protocol-adapter.ts';

/** The parts in which the searches of the protocols differ. */
interface SearchParts {
  buildFields(domains: SearchDomains): JsonObject;
  /** Reads the pages that one event of the answer, or a complete answer, names. */
  readSources(event: JsonObject): readonly CitedPage[];
  /** Reads the searches that an event reports and the provider charges, by texts that differ for each search. */
  readSearches(event: JsonObject): readonly string[];
}

function createSearch({ buildFields, readSources, readSearches }: SearchParts): ProviderSearch {
  return {
    buildFields,
    collectSources: (reader, collector) => {
      const read = (event: JsonObject): void => {
        for (const source of readSources(event)) collector.addSource(source);
        for (const search of readSearches(event)) collector.addSearch(search);
      };
      return {
        get awaitsEnd() {
          return reader.awaitsEnd;
        },
        takeEvent(event, name) {
          read(event);
          reader.takeEvent(event, name);
        },
        takeDocument(response) {
          read(response);
          return reader.takeDocument(response);
        },
      };
    },
  };
}

function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool */
export const anthropicSearch = createSearch({
  buildFields: ({ allowedDomains, blockedDomains }) => ({
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: MAX_PROVIDER_SEARCHES,
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
  // A search that failed has an object with the error as its content, and costs nothing.
  readSearches: (event) =>
    [asObject(event['content_block']) ?? {}, ...asObjects(event['content'])]
      .filter(({ type, content }) => type === 'web_search_tool_result' && Array.isArray(content))
      .flatMap((block) => readTexts([block['tool_use_id']])),
});

function readResponsesItems(event: JsonObject): readonly JsonObject[] {
  return [
    asObject(event['item']) ?? {},
    ...asObjects((asObject(event['response']) ?? event)['output']),
  ];
}

/** https://platform.openai.com/docs/guides/tools-web-search */
export const responsesSearch = createSearch({
  buildFields: ({ allowedDomains, blockedDomains }) => {
    const filters = {
      ...(allowedDomains.length === 0 ? {} : { allowed_domains: allowedDomains }),
      ...(blockedDomains.length === 0 ? {} : { blocked_domains: blockedDomains }),
    };
    if (Object.keys(filters).length === 0) return { tools: [{ type: 'web_search' }] };
    // Servers do not always keep to the filter, so all pages that were read are asked for.
    return {
      tools: [{ type: 'web_search', filters }],
      include: ['web_search_call.action.sources'],
    };
  },
  readSources: (event) => {
    const items = readResponsesItems(event);
    const read = items
      .filter(({ type }) => type === 'web_search_call')
      .flatMap(({ action }) => asObjects(asObject(action)?.['sources']));
    const annotations = [
      asObject(event['annotation']) ?? {},
      ...items
        .flatMap(({ content }) => asObjects(content))
        .flatMap((part) => asObjects(part['annotations'])),
    ];
    const cited = annotations.filter(({ type }) => type === 'url_citation');
    return [...cited, ...read].flatMap((each) => readSource(each['url'], each['title']));
  },
  // Opening a page and looking for a text in it are calls, too, but cost nothing.
  readSearches: (event) =>
    readResponsesItems(event)
      .filter(({ type, status }) => type === 'web_search_call' && status === 'completed')
      .filter(({ action }) => (asObject(action)?.['type'] ?? 'search') === 'search')
      .flatMap(({ id }) => readTexts([id])),
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
  readSearches: (event) =>
    asObjects((asObject(event['response']) ?? event)['candidates']).flatMap((candidate) =>
      readTexts(asObject(candidate['groundingMetadata'])?.['webSearchQueries']),
    ),
});

function readSource(url: unknown, title: unknown): readonly CitedPage[] {
  return typeof url === 'string' ? [{ url, title: typeof title === 'string' ? title : '' }] : [];
}
