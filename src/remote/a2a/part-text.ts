import type { Part } from '@a2a-js/sdk';
import { collapseWhitespace, truncate } from '../../base/text.ts';

/** The maximum number of characters of a name or an address that an agent gives. */
const MAX_NAME_LENGTH = 300;

/**
 * Formats what an agent sent: texts as they are, data as JSON, and files as a line with their name and size. The content
 * of a file is not kept, because nobody has asked for a file to be written. Texts in a row are pieces of one text.
 *
 * @param before the part that stands before these parts. Default: none
 */
export function formatParts(parts: readonly Part[], before?: Part): string {
  let [text, last] = ['', before];
  for (const part of parts) {
    const isContinued = isText(part) && (last === undefined || isText(last));
    text += last === undefined || isContinued ? formatPart(part) : `\n${formatPart(part)}`;
    last = part;
  }
  return text;
}

function isText({ content }: Part): boolean {
  return content?.$case === 'text';
}

function formatPart({ content, filename, mediaType }: Part): string {
  switch (content?.$case) {
    case undefined:
      return '';
    case 'text':
      return content.value;
    case 'data':
      return JSON.stringify(content.value) ?? '';
    case 'raw':
      return formatFile(filename, mediaType, `${content.value.length} bytes`);
    case 'url':
      return formatFile(filename, mediaType, `at ${toLine(content.value)}`);
  }
}

function formatFile(name: string, mediaType: string, rest: string): string {
  const details = [toLine(name), toLine(mediaType), rest].filter((each) => each !== '');
  return `[file: ${details.join(', ')}]`;
}

/** Makes one short line of a text that an agent gives as a name. */
export function toLine(text: string): string {
  return truncate(collapseWhitespace(text), MAX_NAME_LENGTH);
}
