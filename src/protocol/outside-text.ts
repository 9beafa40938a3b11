import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { newId } from '../base/ids.ts';

/** A nonce has about 41 bits. */
const NONCE_LENGTH = 8;

/**
 * Draws the nonce of the boundary around outside text: text from files, commands, the web or other agents. It
 * is drawn after the text exists and stored with it, so that a request can be repeated byte for byte. The text
 * does not contain it.
 */
export function drawNonce(text: string): string {
  for (;;) {
    const nonce = newId().slice(0, NONCE_LENGTH);
    if (!text.includes(nonce)) return nonce;
  }
}

/**
 * Puts outside text between boundaries that it cannot contain, with look-alikes of control tags escaped (see
 * `escapeTags`). The system prompt explains the boundaries.
 */
export function markOutside(text: string, nonce: string): string {
  return addBoundary(escapeTags(text), nonce);
}

/** Adds the boundaries to a text that is already escaped. */
export function addBoundary(escaped: string, nonce: string): string {
  return `<outside ${nonce}>\n${escaped}\n</outside ${nonce}>`;
}

const MARKED = /^<outside ([a-z0-9]+)>\n([\s\S]*)\n<\/outside \1>$/;

/** Returns the text inside the boundaries; a text without boundaries is returned unchanged. */
export function unmarkOutside(marked: string): string {
  const body = MARKED.exec(marked)?.[2];
  return body === undefined ? marked : unescapeTags(body);
}
