import { byteLength } from '../../base/text.ts';
import type { ContextFile } from '../../engine/project-context.ts';

/** A file as it was read. */
export interface WholeFile extends Omit<ContextFile, 'isCut'> {
  /** As of its place; an import has that of the file that imports it. */
  readonly level: number;
}

export interface Fitted {
  readonly files: readonly ContextFile[];
  /** Names of those of which nothing is there. */
  readonly leftOut: readonly string[];
}

/** Less than that of a longer file says nothing. */
const MIN_BYTES = 256;

/**
 * Files within `maxBytes` of text together, in the same order. The nearest directory gets room first,
 * within one a file before what it imports; the first that is too long is cut behind a whole line, and
 * those that come after it are left out.
 */
export function fitFiles(files: readonly WholeFile[], maxBytes: number): Fitted {
  const byNearness = files
    .map((file, index) => ({ file, index }))
    .toSorted((a, b) => b.file.level - a.file.level || a.index - b.index);
  const texts = new Map<WholeFile, string>();
  let room = maxBytes;
  for (const { file } of byNearness) {
    const text = headWithin(file.text, room);
    room = text.length < file.text.length ? 0 : room - byteLength(text);
    if (text !== '') texts.set(file, text);
  }
  return {
    files: files.flatMap((file) => {
      const text = texts.get(file);
      if (text === undefined) return [];
      const { level: _, ...rest } = file;
      return [{ ...rest, text, isCut: text.length < file.text.length }];
    }),
    leftOut: files.filter((file) => !texts.has(file)).map(({ name }) => name),
  };
}

/** All of it, or whole lines of at most `maxBytes`; empty where those say nothing. */
function headWithin(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  if (maxBytes < MIN_BYTES) return '';
  const end = bytes.lastIndexOf(0x0a, maxBytes);
  return end <= 0 ? '' : bytes.toString('utf8', 0, end);
}
