/**
 * A request body, which is JSON, without halves of surrogate pairs: a strict server takes none, and one in
 * the conversation would have each request of it refused. In the log they stay. Serialised, they are the
 * only escapes of this form; what a text quotes as such begins with an escaped backslash.
 */
export function replaceLoneSurrogates(body: string): string {
  if (!body.includes('\\ud')) return body;
  return body.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|[^])/g, (escape) =>
    escape.length > 2 ? '\uFFFD' : escape,
  );
}
