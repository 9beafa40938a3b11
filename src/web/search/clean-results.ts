import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import type { FoundPage } from '../../protocol/web-search.ts';
import type { SearchDomains } from '../../protocol/web.ts';

/** The maximum number of results that a search returns. */
const MAX_RESULTS = 10;
/** A result with a longer URL is left out, because a part of a URL is of no use. */
const MAX_URL_LENGTH = 2_000;
const MAX_TITLE_LENGTH = 150;
const MAX_SNIPPET_LENGTH = 400;
const MAX_DATE_LENGTH = 40;

/** Returns at most ten results from the domains that a query allows, with clean texts of bounded length. */
export function cleanResults(
  pages: readonly FoundPage[],
  domains: SearchDomains,
): readonly FoundPage[] {
  return pages
    .filter((page) => isAllowed(page, domains))
    .slice(0, MAX_RESULTS)
    .map(cleanPage);
}

/** Tells whether a result is a page of the web that the query allows. Not every service filters by itself. */
export function isAllowed(
  { url: found, site }: Pick<FoundPage, 'url' | 'site'>,
  { allowedDomains, blockedDomains }: SearchDomains,
): boolean {
  const url = found.length > MAX_URL_LENGTH ? null : URL.parse(found);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > MAX_URL_LENGTH) {
    return false;
  }
  const isLimited = allowedDomains.length > 0 || blockedDomains.length > 0;
  if (site === '' && isLimited) return false;
  const host = normalizeHost(site ?? url.hostname);
  const isIn = (names: readonly string[]): boolean => names.some((name) => isInDomain(host, name));
  return (allowedDomains.length === 0 || isIn(allowedDomains)) && !isIn(blockedDomains);
}

function isInDomain(host: string, domain: string): boolean {
  const wanted = normalizeHost(domain.replace(/^\*\./, ''));
  return host === wanted || host.endsWith(`.${wanted}`);
}

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** Some services mark the words of the query with tags. */
function cleanText(text: string, maxLength: number): string {
  const plain = text
    .replaceAll(/<\/?(?:strong|b|em|mark|span)\b[^>]{0,100}>/gi, '')
    .replaceAll(/\s+/g, ' ');
  return truncate(sanitizeLine(plain.trim()), maxLength);
}

function cleanPage({ url, title, snippet, date }: FoundPage): FoundPage {
  return {
    url: URL.parse(url)?.href ?? '',
    title: cleanText(title, MAX_TITLE_LENGTH),
    snippet: cleanText(snippet, MAX_SNIPPET_LENGTH),
    date: cleanText(date, MAX_DATE_LENGTH),
  };
}
