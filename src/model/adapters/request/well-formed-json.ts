/**
 * Replaces lone surrogates in a JSON request body. A strict server refuses them, and one in the conversation would
 * make it refuse every later request. The log keeps them. In serialized JSON only lone surrogates are escaped in
 * this form; an escape that is quoted in a text begins with an escaped backslash.
 */
export function replaceLoneSurrogates(body: string): string {
  if (!body.includes('\\ud')) return body;
  return body.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (escape) =>
    escape.length > 2 ? '\uFFFD' : escape,
  );
}
