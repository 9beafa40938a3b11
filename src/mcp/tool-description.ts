import { escapeTags } from '../base/control-tags.ts';
import { removeHiddenCharacters } from '../base/hidden-characters.ts';
import { byteLength } from '../base/text.ts';

/** The maximum size of a tool's description, in bytes. */
const MAX_TOOL_DESCRIPTION_BYTES = 1024;

/**
 * Makes a text of a server fit for a request: removes control characters and characters that a person does not see,
 * escapes text that looks like control tags (see `escapeTags`), and cuts the text to a number of bytes, with an ellipsis
 * at the end.
 */
export function cleanDescription(text: string, maxBytes = MAX_TOOL_DESCRIPTION_BYTES): string {
  // A text far beyond the limit is cut first, because hostile servers send texts of megabytes.
  const { text: visible } = removeHiddenCharacters(text.slice(0, maxBytes * 4).toWellFormed());
  const clean = escapeTags(visible.trim());
  if (byteLength(clean) <= maxBytes) return clean;
  const bytes = Buffer.from(clean, 'utf8').subarray(0, maxBytes - byteLength('…'));
  // The last character may have been cut in the middle, and would become a replacement character.
  return `${bytes
    .toString('utf8')
    .replace(/\uFFFD+$/, '')
    .trimEnd()}…`;
}
