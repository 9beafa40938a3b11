/**
 * Replaces lone surrogates in a JSON request body. A strict server refuses them, so that a single lone surrogate in a
 * conversation would make the server refuse every later request. The log keeps them. `JSON.stringify` writes the escape
 * `\ud…` only for lone surrogates. If a text itself contains such an escape, its backslash is escaped too, so the
 * pattern consumes the pair `\\` first.
 */
export function replaceLoneSurrogates(body: string): string {
  if (!body.includes('\\ud')) return body;
  return body.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (escape) =>
    escape.length > 2 ? '\uFFFD' : escape,
  );
}
