import { REDACTED } from '../../protocol/redaction.ts';

/**
 * Returns true when redaction removes more from a text than single words or parts of them. Otherwise a command could
 * be hidden between lines that look like the begin and the end of a private key.
 */
export function changesByRedaction(text: string, redact: (text: string) => string): boolean {
  return countWords(redact(text)) !== countWords(text);
}

/** The word before a bearer token, which is redacted together with the token. */
const BEARER = /[Bb]earer (?=eyJ)/g;

function countWords(text: string): number {
  const joined = text.replaceAll(REDACTED, '*').replaceAll(BEARER, '*');
  return joined.split(/\s+/).filter((word) => word !== '').length;
}
