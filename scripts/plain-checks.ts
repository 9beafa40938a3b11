import type { Plugin } from 'rolldown';

const CHECK = 'if (providerOptions?.[provider] == null) return;\n\tconst parsedProviderOptions';
const UNCHECKED = `if (providerOptions?.[provider] == null) return;
	if (Object.keys(providerOptions[provider]).join() === "cacheControl") return providerOptions[provider];
	const parsedProviderOptions`;

/**
 * Has the provider packages take a cache marker as it is, where that is all that a part of a prompt
 * carries: to check it, the schema of all options would be built at each start.
 */
export function plainChecksPlugin(): Plugin {
  return {
    name: 'plain-checks',
    transform: {
      filter: { id: /@ai-sdk\/provider-utils\/dist\/index\.m?js$/ },
      handler(code) {
        if (code.split(CHECK).length === 2) {
          return { code: code.replace(CHECK, UNCHECKED), map: null };
        }
        throw new Error(`@ai-sdk/provider-utils has changed: not exactly one \`${CHECK}\` in it`);
      },
    },
  };
}
