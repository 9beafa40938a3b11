/** Where no more is known: no provider caches a shorter prefix. */
const LEAST = 1024;

/**
 * Anthropic's documentation of prompt caching, as quoted in anthropic-sdk-python#1194; there 2,048 was
 * measured for Sonnet 4.6.
 */
const BY_MODEL: readonly (readonly [RegExp, number])[] = [
  [/claude-(opus-4-[5-9]|haiku-4-5)/, 4096],
  [/claude-(sonnet-4-6|3-haiku|3-5-haiku)/, 2048],
];

/** The shortest prefix that a model's provider caches, in tokens. */
export function cacheMinimum(id: string): number {
  const dashed = id.replaceAll('.', '-');
  return BY_MODEL.find(([pattern]) => pattern.test(dashed))?.[1] ?? LEAST;
}
