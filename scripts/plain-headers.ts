import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const PLAIN_HEADERS = join(import.meta.dirname, '../src/sys/http/header-map.ts');
/** The one place where the provider packages touch the global: it must be found, or they changed. */
const EXPECTED = `	const normalizedHeaders = new Headers(normalizeHeaders(headers));
	const currentUserAgentHeader = normalizedHeaders.get("user-agent") || "";
	normalizedHeaders.set("user-agent", [currentUserAgentHeader, ...userAgentSuffixParts].filter(Boolean).join(" "));
	return Object.fromEntries(normalizedHeaders.entries());
`;
/** What is normalised has each name once and in lower case: of a map of it the same would come back. */
const PLAINLY = `	const normalizedHeaders = normalizeHeaders(headers);
	const currentUserAgentHeader = normalizedHeaders["user-agent"] || "";
	normalizedHeaders["user-agent"] = [currentUserAgentHeader, ...userAgentSuffixParts].filter(Boolean).join(" ");
	return normalizedHeaders;
`;

/** Asks Node about itself for a name that our own replaces (`src/model/adapters/endpoint-fetch.ts`). */
const ASKED = 'if (globalThisAny.navigator?.userAgent) return';

/**
 * Gives the provider packages our own headers for Node's: to look at the global `Headers` alone
 * loads all that stands behind `fetch`, 30 ms of each start.
 */
export function plainHeadersPlugin(): Plugin {
  return {
    name: 'plain-headers',
    transform: {
      filter: { id: /@ai-sdk\/provider-utils\/dist\/index\.m?js$/ },
      handler(code) {
        for (const part of [EXPECTED, ASKED]) {
          if (!code.includes(part)) {
            throw new Error(`@ai-sdk/provider-utils has changed: no \`${part}\` in it`);
          }
        }
        const plain = code.replace(EXPECTED, PLAINLY).replace(ASKED, 'if (false) return');
        return {
          code: `import { HeaderMap as Headers } from ${JSON.stringify(PLAIN_HEADERS)};\n${plain}`,
          map: null,
        };
      },
    },
  };
}
