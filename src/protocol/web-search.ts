import type { ToolContext } from './tool.ts';
import type { CitedPage, SearchDomains } from './web.ts';

/** The names of the search services, as the configuration writes them. */
export const SEARCH_SERVICES = ['brave', 'tavily', 'exa', 'serper', 'searxng'] as const;
export type SearchServiceName = (typeof SEARCH_SERVICES)[number];

/** A search of the web. */
export interface WebQuery extends SearchDomains {
  readonly query: string;
}

/** A page that a search has found. */
export interface FoundPage extends CitedPage {
  readonly snippet: string;
  /** The date or age of the page as the service gives it; empty if it is not known. */
  readonly date: string;
}

/** The outcome of a search. */
export interface SearchOutcome {
  readonly pages: readonly FoundPage[];
  /** The text in which a provider's model says what it has found; empty if the search gives only pages. */
  readonly summary: string;
}

/**
 * Searches the web for a call. Rejects with a MusterError that says what to do, or with the reason of the signal.
 */
export type WebSearchPort = (
  query: WebQuery,
  call: Pick<ToolContext, 'signal' | 'askModel'>,
) => Promise<SearchOutcome>;
