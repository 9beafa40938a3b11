import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { FoundPage, SearchServiceName, WebQuery } from '../../protocol/web-search.ts';
import type { HttpRequest } from '../../sys/http/http-types.ts';

/** How a search service is reached. */
export interface SearchAccess {
  /** The address of the service, without a slash at the end. */
  readonly baseUrl: string;
  /** The key; empty for a service that needs none. */
  readonly key: string;
}

/** A search service: how it is asked, and how its answer is read. */
export interface SearchService {
  readonly baseUrl: string;
  /** The environment variables that may hold the key, or the address of a service without a key; the first one counts. */
  readonly variables: readonly string[];
  buildRequest(
    query: WebQuery,
    access: SearchAccess,
  ): { readonly url: string; readonly request: HttpRequest };
  /** Reads the list of results from the answer. Returns undefined if the answer has another shape. */
  readResults(answer: JsonValue): readonly FoundPage[] | undefined;
}

/** The number of results that services are asked for. */
const RESULTS = 10;

function postJson(headers: Readonly<Record<string, string>>, body: object): HttpRequest {
  return {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  };
}

/** Adds the domains to a query in the form that search engines understand: `site:a.org OR site:b.org -site:c.org`. */
function addSiteOperators({ query, allowedDomains, blockedDomains }: WebQuery): string {
  const allowed = allowedDomains.map((domain) => `site:${domain}`).join(' OR ');
  const blocked = blockedDomains.map((domain) => `-site:${domain}`);
  return [query, ...(allowed === '' ? [] : [`(${allowed})`]), ...blocked].join(' ');
}

/** The fields of one result that hold its parts. The first field with a text counts. */
interface ResultFields {
  readonly url: string;
  readonly snippet: readonly string[];
  readonly date: readonly string[];
}

function readPages(list: unknown, fields: ResultFields): readonly FoundPage[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((each: unknown) => {
    if (!isJsonObject(each)) return [];
    const url = each[fields.url];
    if (typeof url !== 'string') return [];
    const readFirst = (names: readonly string[]): string =>
      names.map((name) => readText(each[name])).find((text) => text !== '') ?? '';
    return [
      {
        url,
        title: readText(each['title']),
        snippet: readFirst(fields.snippet),
        date: readFirst(fields.date),
      },
    ];
  });
}

/** Reads a text, or a list of texts as one text. Returns an empty text for any other value. */
function readText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.filter((each) => typeof each === 'string').join(' … ');
}

function field(answer: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(answer) ? answer[name] : undefined;
}

/** The search services that Muster knows, with the request and the answer that each documents. */
export const SERVICES: Readonly<Record<SearchServiceName, SearchService>> = {
  /** https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
  brave: {
    baseUrl: 'https://api.search.brave.com',
    variables: ['BRAVE_API_KEY', 'BRAVE_SEARCH_API_KEY'],
    buildRequest: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/res/v1/web/search?q=${encodeURIComponent(addSiteOperators(query))}&count=${RESULTS}`,
      request: { headers: { 'x-subscription-token': key, accept: 'application/json' } },
    }),
    readResults: (answer) => {
      // Without any result, the answer has no field `web`.
      const list = field(field(answer, 'web'), 'results');
      if (list === undefined && isJsonObject(answer)) return [];
      return readPages(list, { url: 'url', snippet: ['description'], date: ['page_age', 'age'] });
    },
  },
  /** https://docs.tavily.com/documentation/api-reference/endpoint/search */
  tavily: {
    baseUrl: 'https://api.tavily.com',
    variables: ['TAVILY_API_KEY'],
    buildRequest: ({ query, allowedDomains, blockedDomains }, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      request: postJson(
        { authorization: `Bearer ${key}` },
        {
          query,
          max_results: RESULTS,
          include_domains: allowedDomains,
          exclude_domains: blockedDomains,
        },
      ),
    }),
    readResults: (answer) =>
      readPages(field(answer, 'results'), {
        url: 'url',
        snippet: ['content'],
        date: ['published_date'],
      }),
  },
  /** https://exa.ai/docs/reference/search */
  exa: {
    baseUrl: 'https://api.exa.ai',
    variables: ['EXA_API_KEY'],
    buildRequest: ({ query, allowedDomains, blockedDomains }, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      request: postJson(
        { 'x-api-key': key },
        {
          query,
          numResults: RESULTS,
          contents: { highlights: true },
          ...(allowedDomains.length === 0 ? {} : { includeDomains: allowedDomains }),
          ...(blockedDomains.length === 0 ? {} : { excludeDomains: blockedDomains }),
        },
      ),
    }),
    readResults: (answer) =>
      readPages(field(answer, 'results'), {
        url: 'url',
        snippet: ['highlights', 'summary', 'text'],
        date: ['publishedDate'],
      }),
  },
  /** https://serper.dev */
  serper: {
    baseUrl: 'https://google.serper.dev',
    variables: ['SERPER_API_KEY'],
    buildRequest: (query, { baseUrl, key }) => ({
      url: `${baseUrl}/search`,
      request: postJson({ 'x-api-key': key }, { q: addSiteOperators(query), num: RESULTS }),
    }),
    readResults: (answer) =>
      readPages(field(answer, 'organic'), { url: 'link', snippet: ['snippet'], date: ['date'] }),
  },
  /** https://docs.searxng.org/dev/search_api.html */
  searxng: {
    baseUrl: '',
    variables: ['SEARXNG_URL'],
    buildRequest: (query, { baseUrl }) => ({
      url: `${baseUrl}/search?q=${encodeURIComponent(addSiteOperators(query))}&format=json`,
      request: { headers: { accept: 'application/json' } },
    }),
    readResults: (answer) =>
      readPages(field(answer, 'results'), {
        url: 'url',
        snippet: ['content'],
        date: ['publishedDate'],
      }),
  },
};
