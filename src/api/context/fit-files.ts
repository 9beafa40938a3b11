import { byteLength } from '../../base/text.ts';
import type { ContextFile } from '../../protocol/project-context.ts';

/** A file as it was read. */
export interface UncutFile extends Omit<ContextFile, 'isCut'> {
  /** As of its place; an import has that of the file that imports it. */
  readonly level: number;
}

export interface FittedFiles {
  readonly files: readonly ContextFile[];
  /** Names of those of which nothing is there. */
  readonly leftOut: readonly string[];
}

/** Less than that of a longer file says nothing. */
const MIN_BYTES = 256;

/** Of the user's own files so much stays, whatever a project brings. Bytes. */
const OWN_BYTES = 8 * 1024;

/**
 * Files within `maxBytes` of text together, in the same order. The nearest directory gets room first,
 * within one a file before what it imports; the first that is too long is cut behind a whole line, and
 * those that come after it are left out. The user's own come last, but a part of the room is theirs.
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

/** What of each finds room, in this order, and the room that is left: none once one was cut. */
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

/** All of it, or whole lines of at most `maxBytes`; empty where those say nothing. */
function headWithin(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  if (maxBytes < MIN_BYTES) return '';
  const end = bytes.lastIndexOf(0x0a, maxBytes);
  return end <= 0 ? '' : bytes.toString('utf8', 0, end);
}
