import { escapeTags, unescapeTags } from '../base/control-tags.ts';
import { newId } from '../base/ids.ts';

/** About 41 bits; drawn when the text is there already, so that nobody could have put it in. */
const NONCE_LENGTH = 8;

/**
 * The nonce of the boundary around outside text: what came from files, commands, the web or other
 * agents. It is drawn after the text and written down beside it, so that a request can be repeated
 * byte for byte. None of the texts holds it.
 */
export function drawNonce(text: string): string {
  for (;;) {
    const nonce = newId().slice(0, NONCE_LENGTH);
    if (!text.includes(nonce)) return nonce;
  }
}

/**
 * Outside text as it stands in a request: between boundaries that it can't contain, look-alikes of
 * control tags in it escaped (see `escapeTags`). The system prompt says what it means.
 */
export function markOutside(text: string, nonce: string): string {
  return addBoundary(escapeTags(text), nonce);
}

/** For a text that is escaped already. */
export function addBoundary(escaped: string, nonce: string): string {
  return `<outside ${nonce}>\n${escaped}\n</outside ${nonce}>`;
}

const MARKED = /^<outside ([a-z0-9]+)>\n([\s\S]*)\n<\/outside \1>$/;

/** The text that was marked; what is not marked comes back as it is. */
export function unmarkOutside(marked: string): string {
  const body = MARKED.exec(marked)?.[2];
  return body === undefined ? marked : unescapeTags(body);
}
