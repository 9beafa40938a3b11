import { escapeTags } from '../base/control-tags.ts';
import { removeHiddenCharacters } from '../base/hidden-characters.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { byteLength, collapseWhitespace, truncate } from '../base/text.ts';
import type { McpTool } from './server-data.ts';

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

/** The maximum number of code points of a tool's title in a question. */
const MAX_TITLE_LENGTH = 80;

/** The words for the hints of a server about a tool, if it says yes and if it says no. */
const HINT_WORDS = [
  ['readOnly', 'read-only', 'not read-only'],
  ['destructive', 'destructive', 'not destructive'],
  ['idempotent', 'idempotent', 'not idempotent'],
  ['openWorld', 'reaches other systems', 'reaches no other systems'],
] as const;

/**
 * Describes the title of a tool and the hints of the server about it, for the question to a person. Returns an empty text
 * if the server gives neither. The hints never decide about rights.
 */
export function describeServerHints({
  title,
  annotations,
}: Pick<McpTool, 'title' | 'annotations'>): string {
  const name = cleanTitle(title ?? annotations.title ?? '');
  const said = [
    ...(name === '' ? [] : [`“${name}”`]),
    ...HINT_WORDS.flatMap(([hint, yes, no]) => {
      const value = annotations[hint];
      return value === undefined ? [] : [value ? yes : no];
    }),
  ];
  return said.length === 0 ? '' : `The server says, unchecked: ${said.join(', ')}.`;
}

function cleanTitle(title: string): string {
  const line = sanitizeForTerminal(title.slice(0, MAX_TITLE_LENGTH * 4), 'prose');
  return truncate(collapseWhitespace(line.replaceAll(/[“”]/g, '"')), MAX_TITLE_LENGTH);
}
