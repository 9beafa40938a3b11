import { REDACTED } from '../../protocol/redaction.ts';

/**
 * Whether redaction takes more from a text than words or parts of them, one for each mark. What it takes
 * then may be commands of their own, between lines that look like the begin and the end of a private key.
 */
export function changesByRedaction(text: string, redact: (text: string) => string): boolean {
  return countWords(redact(text)) !== countWords(text);
}

/** A token that is sent is redacted together with the word before it. */
const BEARER = /[Bb]earer (?=eyJ)/g;

function countWords(text: string): number {
  const joined = text.replaceAll(REDACTED, '*').replaceAll(BEARER, '*');
  return joined.split(/\s+/).filter((word) => word !== '').length;
}
