import { byteLength } from '../../base/text.ts';
import type { ContextFile } from '../../protocol/project-context.ts';

/** A file with its full text. */
export interface UncutFile extends Omit<ContextFile, 'isCut'> {
  /** The level of its location. An import has that of the file that imports it. */
  readonly level: number;
}

export interface FittedFiles {
  readonly files: readonly ContextFile[];
  /** Names of files that are left out. */
  readonly leftOut: readonly string[];
}

/** The least bytes of a cut file that are useful. */
const MIN_BYTES = 256;

/** The bytes that are reserved for the user's own files. */
const OWN_BYTES = 8 * 1024;

/**
 * Selects files whose texts have at most `maxBytes` together, in the same order. The nearest directory gets room
 * first, and in one directory a file before its imports. The first file that is too long is cut at the end of a line,
 * and those after it are left out. The user's own files come last, but a part of the room is reserved for them.
 */
export function fitFiles(files: readonly UncutFile[], maxBytes: number): FittedFiles {
  const byNearness = files
    .map((file, index) => ({ file, index }))
    .toSorted((a, b) => b.file.level - a.file.level || a.index - b.index)
    .map(({ file }) => file);
  const own = byNearness.filter(({ scope }) => scope === 'user');
  const reserved = Math.min(OWN_BYTES, maxBytes / 2, sizeOf(own));
  const ofProject = headsWithin(
    byNearness.filter(({ scope }) => scope !== 'user'),
    maxBytes - reserved,
  );
  const ofUser = headsWithin(own, reserved + ofProject.room);
  const texts = new Map([...ofProject.texts, ...ofUser.texts]);
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

function sizeOf(files: readonly UncutFile[]): number {
  return files.reduce((sum, { text }) => sum + byteLength(text), 0);
}

/**
 * Returns the part of each file that fits, in this order, and the remaining room, which is none once a file was cut.
 */
function headsWithin(
  files: readonly UncutFile[],
  maxBytes: number,
): { readonly texts: ReadonlyMap<UncutFile, string>; readonly room: number } {
  const texts = new Map<UncutFile, string>();
  let room = maxBytes;
  for (const file of files) {
    const text = headWithin(file.text, room);
    room = text.length < file.text.length ? 0 : room - byteLength(text);
    if (text !== '') texts.set(file, text);
  }
  return { texts, room };
}

/**
 * Returns the full text, or complete lines of at most `maxBytes`, or nothing if those are too few to be useful.
 */
function headWithin(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  if (maxBytes < MIN_BYTES) return '';
  const end = bytes.lastIndexOf(0x0a, maxBytes);
  return end <= 0 ? '' : bytes.toString('utf8', 0, end);
}
