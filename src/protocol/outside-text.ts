import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { newId } from '../base/ids.ts';

/** The number of characters of a nonce, which gives about 41 bits. */
const NONCE_LENGTH = 8;

/**
 * Draws a nonce for the boundary around outside text: text from files, commands, the web or other agents. The nonce is
 * drawn when the text already exists, so that the text cannot contain it. It is stored with the text, so that a request
 * can be repeated byte for byte.
 */
export function drawNonce(text: string): string {
  for (;;) {
    const nonce = newId().slice(0, NONCE_LENGTH);
    if (!text.includes(nonce)) return nonce;
  }
}

/**
 * Puts outside text between boundaries with a nonce, and escapes text that looks like control tags (see `escapeTags`).
 * The system prompt explains the boundaries to the model.
 */
export function markOutside(text: string, nonce: string): string {
  return addBoundary(escapeTags(text), nonce);
}

/** Adds the boundaries to a text that is already escaped. */
export function addBoundary(escaped: string, nonce: string): string {
  return `<outside ${nonce}>\n${escaped}\n</outside ${nonce}>`;
}

const MARKED_TEXT = /^<outside ([a-z0-9]+)>\n([\s\S]*)\n<\/outside \1>$/;

/** Returns the text inside the boundaries, unescaped. A text without boundaries is returned unchanged. */
export function unmarkOutside(marked: string): string {
  const body = MARKED_TEXT.exec(marked)?.[2];
  return body === undefined ? marked : unescapeTags(body);
}
