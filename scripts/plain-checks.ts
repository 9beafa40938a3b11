import type { Plugin } from 'rolldown';

/** What is written otherwise; each must be found, or the packages have changed. */
const CHANGES: readonly (readonly [string, string])[] = [
  ['import { safeParseAsync } from "zod/v4";', 'import { safeParse } from "zod/v4";'],
  [
    'validate: async (value) => {\n\t\tconst result = await safeParseAsync(zodSchema, value);',
    'validate: (value) => {\n\t\tconst result = safeParse(zodSchema, value);',
  ],
  ['async function safeValidateTypes(', 'function safeValidateTypes('],
  ['await actualSchema.validate(value);', 'actualSchema.validate(value);'],
  ['async function safeParseJSON(', 'function safeParseJSON('],
  ['return await safeValidateTypes(', 'return safeValidateTypes('],
  [
    'async transform({ data }, controller) {\n\t\tif (data === "[DONE]") return;\n\t\tcontroller.enqueue(await safeParseJSON(',
    'transform({ data }, controller) {\n\t\tif (data === "[DONE]") return;\n\t\tcontroller.enqueue(safeParseJSON(',
  ],
  [
    'if (providerOptions?.[provider] == null) return;\n\tconst parsedProviderOptions',
    'if (providerOptions?.[provider] == null) return;\n\tif (Object.keys(providerOptions[provider]).join() === "cacheControl") return providerOptions[provider];\n\tconst parsedProviderOptions',
  ],
];

/**
 * Has the provider packages check each event of an answer at once. None of their zod schemas waits for
 * anything, but where one might, zod checks several times slower, and each event takes a dozen promises
 * on its way. A schema that did wait would find its value wrong. And a cache marker, all that a part of a
 * prompt carries, is taken as it is: to check it, the schema of all options would be built at each start.
 */
export function plainChecksPlugin(): Plugin {
  return {
    name: 'plain-checks',
    transform: {
      filter: { id: /@ai-sdk\/provider-utils\/dist\/index\.m?js$/ },
      handler: (code) => ({ code: CHANGES.reduce(changed, code) }),
    },
  };
}

function changed(code: string, [from, to]: readonly [string, string]): string {
  if (code.split(from).length === 2) return code.replace(from, to);
  throw new Error(`@ai-sdk/provider-utils has changed: not exactly one \`${from}\` in it`);
}
