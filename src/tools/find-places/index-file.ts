import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { FileFacts } from './corpus.ts';
import { Vocabulary } from './vocabulary.ts';

/** By what a file is known to be unchanged. Times in milliseconds. */
export interface FileStamp {
  readonly size: number;
  readonly modified: number;
  /** The inode's time: it also tells of a change whose `modified` was set back. */
  readonly changed: number;
  /** When it was read. A change right after may bear the same times: then only the content tells. */
  readonly read: number;
}

export interface StampedFacts extends FileStamp, FileFacts {}

export interface StoredIndex {
  readonly vocabulary: Vocabulary;
  readonly files: ReadonlyMap<string, StampedFacts>;
}

/** One that another version wrote is made anew. */
const VERSION = 1;
/** Indexes of so many directories are kept. */
const MOST_KEPT = 20;
const MAGIC = `muster index ${VERSION}\n`;

/** Where the index of a directory (absolute, real) is kept. */
export function indexPath(indexDirectory: string, directory: string): string {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  return join(indexDirectory, `${name}.idx`);
}

/** Null where there is none, or none that can be used: it is only a copy of what the files say. */
export function loadIndex(path: string): StoredIndex | null {
  try {
    return parse(readFileSync(path));
  } catch {
    // Missing, torn or not to be read: the files are read instead.
    return null;
  }
}

/** False where it could not be kept: then the next question reads the files again. */
export function saveIndex(path: string, index: StoredIndex): boolean {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(temporary, 'wx', 0o600);
    try {
      for (const piece of serialise(index)) writeSync(file, piece);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    forgetOldest(dirname(path));
    return true;
  } catch {
    rmSync(temporary, { force: true });
    return false;
  }
}

/** Only terms that a file still has are kept, numbered anew in the same order. */
function serialise({ vocabulary, files }: StoredIndex): readonly Buffer[] {
  const numbers = new Uint32Array(vocabulary.size);
  let total = 0;
  for (const { terms } of files.values()) {
    for (const term of terms) numbers[term] = 1;
    total += terms.length;
  }
  const words: string[] = [];
  let number = 0;
  for (const word of vocabulary.terms()) {
    if (numbers[number] === 1) numbers[number] = words.push(word) - 1;
    number += 1;
  }
  const allTerms = new Uint32Array(total);
  const allCounts = new Uint16Array(total);
  let at = 0;
  const listed = [...files].map(([path, { terms, counts, imports, length, ...stamp }]) => {
    allTerms.set(
      terms.map((term) => numbers[term] ?? 0),
      at,
    );
    allCounts.set(counts, at);
    at += terms.length;
    const { size, modified, changed, read } = stamp;
    return [path, size, modified, changed, read, length, terms.length, imports];
  });
  const head = Buffer.from(JSON.stringify({ words: words.join('\n'), files: listed }));
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(head.length, 0);
  sizes.writeUInt32LE(total, 4);
  return [Buffer.from(MAGIC), sizes, head, bytesOf(allTerms), bytesOf(allCounts)];
}

/** Of directories that nobody has asked about for longest. */
function forgetOldest(indexDirectory: string): void {
  const kept = readdirSync(indexDirectory)
    .map((name) => join(indexDirectory, name))
    .map((path) => ({ path, used: statSync(path).mtimeMs }))
    .toSorted((a, b) => b.used - a.used);
  for (const { path } of kept.slice(MOST_KEPT)) rmSync(path, { force: true });
}

function bytesOf(numbers: Uint32Array | Uint16Array): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Throws for what is no whole index of this version. */
function parse(bytes: Buffer): StoredIndex {
  if (bytes.subarray(0, MAGIC.length).toString('latin1') !== MAGIC)
    throw new Error('another version');
  const headBytes = bytes.readUInt32LE(MAGIC.length);
  const total = bytes.readUInt32LE(MAGIC.length + 4);
  const start = MAGIC.length + 8;
  const termsAt = start + headBytes;
  const countsAt = termsAt + 4 * total;
  if (bytes.length !== countsAt + 2 * total) throw new Error('torn');
  const allTerms = new Uint32Array(
    bytes.buffer.slice(bytes.byteOffset + termsAt, bytes.byteOffset + countsAt),
  );
  const allCounts = new Uint16Array(
    bytes.buffer.slice(bytes.byteOffset + countsAt, bytes.byteOffset + bytes.length),
  );
  const head: JsonValue = JSON.parse(bytes.subarray(start, termsAt).toString('utf8'));
  if (!isJsonObject(head) || typeof head['words'] !== 'string' || !Array.isArray(head['files'])) {
    throw new Error('no index');
  }
  const vocabulary = new Vocabulary();
  for (const word of head['words'].split('\n')) vocabulary.add(word);
  const files = new Map<string, StampedFacts>();
  let at = 0;
  for (const entry of head['files']) {
    if (!Array.isArray(entry)) throw new Error('no file');
    const [path, size, modified, changed, read, length, count, imports] = entry;
    if (typeof path !== 'string' || !Array.isArray(imports)) throw new Error('no file');
    const held = numberOf(count);
    files.set(path, {
      size: numberOf(size),
      modified: numberOf(modified),
      changed: numberOf(changed),
      read: numberOf(read),
      length: numberOf(length),
      imports: imports.filter((each) => typeof each === 'string'),
      terms: allTerms.subarray(at, at + held),
      counts: allCounts.subarray(at, at + held),
    });
    at += held;
  }
  return { vocabulary, files };
}

function numberOf(value: JsonValue | undefined): number {
  if (typeof value !== 'number') throw new Error('no number');
  return value;
}
