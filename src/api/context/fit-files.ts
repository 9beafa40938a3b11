import { byteLength } from '../../base/text.ts';
import type { ContextFile } from '../../protocol/project-context.ts';

/** A file with its full text. */
export interface UncutFile extends Omit<ContextFile, 'isCut'> {
  /** The level of its location. An imported file has the level of the file that imports it. */
  readonly level: number;
}

export interface FittedFiles {
  readonly files: readonly ContextFile[];
  /** Names of files that are left out. */
  readonly leftOut: readonly string[];
}

/** The minimum number of bytes of a cut file. Fewer bytes are not useful. */
const MIN_CUT_BYTES = 256;

/** The maximum number of bytes that are reserved for the files of the user. */
const MAX_RESERVED_BYTES = 8 * 1024;

/**
 * Selects files whose texts have at most `maxBytes` in total, and returns them in the same order. Files in nearer
 * directories are selected first, and in one directory a file before its imports. The first file that does not fit is
 * cut at the end of a line, and the files after it are left out. The files of the user are selected last, but some
 * bytes are reserved for them.
 */
export function fitFiles(files: readonly UncutFile[], maxBytes: number): FittedFiles {
  const byNearness = files
    .map((file, index) => ({ file, index }))
    .toSorted((a, b) => b.file.level - a.file.level || a.index - b.index)
    .map(({ file }) => file);
  const userFiles = byNearness.filter(({ scope }) => scope === 'user');
  const reserved = Math.min(MAX_RESERVED_BYTES, maxBytes / 2, sumBytes(userFiles));
  const projectTexts = cutFiles(
    byNearness.filter(({ scope }) => scope !== 'user'),
    maxBytes - reserved,
  );
  const userTexts = cutFiles(userFiles, reserved + projectTexts.remaining);
  const texts = new Map([...projectTexts.texts, ...userTexts.texts]);
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

function sumBytes(files: readonly UncutFile[]): number {
  return files.reduce((sum, { text }) => sum + byteLength(text), 0);
}

/**
 * Returns the part of each file that fits, in this order, and the number of remaining bytes, which is 0 once a file was
 * cut.
 */
function cutFiles(
  files: readonly UncutFile[],
  maxBytes: number,
): { readonly texts: ReadonlyMap<UncutFile, string>; readonly remaining: number } {
  const texts = new Map<UncutFile, string>();
  let remaining = maxBytes;
  for (const file of files) {
    const text = cutText(file.text, remaining);
    remaining = text.length < file.text.length ? 0 : remaining - byteLength(text);
    if (text !== '') texts.set(file, text);
  }
  return { texts, remaining };
}

/**
 * Returns the full text, or complete lines of at most `maxBytes` in total, or '' if they would be too few to be useful.
 */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  if (maxBytes < MIN_CUT_BYTES) return '';
  const end = bytes.lastIndexOf(0x0a, maxBytes);
  return end <= 0 ? '' : bytes.toString('utf8', 0, end);
}
