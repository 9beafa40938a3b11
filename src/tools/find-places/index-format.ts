import { crc32 } from 'node:zlib';
import { ByteTable } from './byte-table.ts';
import type { FileFacts } from './corpus.ts';
import { Vocabulary } from './vocabulary.ts';

/** By what a file is known to be unchanged. Times in milliseconds. */
export interface FileStamp {
  readonly size: number;
  readonly modified: number;
  /** The inode's time: it also tells of a change whose `modified` was set back. */
  readonly changed: number;
  /** Its number in the file system: another file under the same name has another. */
  readonly inode: number;
  /** When it was looked at. A change right after may bear the same times: then only the content tells. */
  readonly read: number;
}

export interface StampedFacts extends FileStamp, FileFacts {}

export interface StoredIndex {
  readonly vocabulary: Vocabulary;
  readonly files: ReadonlyMap<string, StampedFacts>;
}

/** One that another version wrote is made anew. */
const VERSION = 2;
const MAGIC = Buffer.from(`muster index ${String(VERSION).padStart(2)}\n`);
const STAMPS = 5;
const PER_FILE = 3;
/** Every piece begins at a multiple of it, so that its numbers can be used where they are read. */
const ALIGNED = 8;
/** How many of each there are: words, imported names, files, their bytes, references, terms of all files. */
const HEAD = 8;

/**
 * The bytes of an index, in pieces that are only good until the next one is asked for: of its numbers no
 * second copy is made. Only words that a file still has are kept, numbered anew in the same order.
 */
export function* encodeIndex({ vocabulary, files }: StoredIndex): Generator<Uint8Array> {
  const words = usedWords(vocabulary, files);
  const imported = new Map<string, number>();
  let terms = 0;
  let references = 0;
  for (const file of files.values()) {
    terms += file.terms.length;
    references += file.imports.length;
    for (const name of file.imports) if (!imported.has(name)) imported.set(name, imported.size);
  }
  const names = textTable([...imported.keys()]);
  const paths = textTable([...files.keys()]);
  const head = Uint32Array.of(
    words.ends.length,
    words.bytes.length,
    names.ends.length,
    names.bytes.length,
    files.size,
    paths.bytes.length,
    references,
    terms,
  );
  let crc = 0;
  for (const part of [
    [MAGIC],
    [head],
    [words.ends],
    [words.bytes],
    [names.ends],
    [names.bytes],
    [paths.ends],
    [paths.bytes],
    stampsOf(files),
    perFile(files),
    ofEach(files, (file) => Uint32Array.from(file.imports, (name) => imported.get(name) ?? 0)),
    ofEach(files, (file) => words.renumbered(file.terms)),
    ofEach(files, (file) => file.counts),
  ]) {
    let length = 0;
    for (const piece of part) {
      const bytes = new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
      crc = crc32(bytes, crc);
      length += bytes.length;
      yield bytes;
    }
    const padding = new Uint8Array(paddingAfter(length));
    crc = crc32(padding, crc);
    yield padding;
  }
  yield new Uint8Array(Uint32Array.of(crc).buffer);
}

/**
 * Throws for what is no whole index of this version. What it returns lies in `bytes`, which begins at a
 * multiple of eight in its memory.
 */
export function decodeIndex(bytes: Uint8Array): StoredIndex {
  const end = bytes.length - Uint32Array.BYTES_PER_ELEMENT;
  if (end < MAGIC.length || !MAGIC.equals(bytes.subarray(0, MAGIC.length))) {
    throw new Error('another version');
  }
  const [crc] = new Uint32Array(bytes.slice(end).buffer);
  if (crc32(bytes.subarray(0, end)) !== crc) throw new Error('damaged');
  const pieces = new Pieces(bytes.subarray(0, end), MAGIC.length + paddingAfter(MAGIC.length));
  const [
    words = 0,
    wordBytes = 0,
    names = 0,
    nameBytes = 0,
    count = 0,
    pathBytes = 0,
    refs = 0,
    terms = 0,
  ] = pieces.numbers(HEAD);
  const wordEnds = pieces.ends(words, wordBytes);
  const vocabulary = new Vocabulary(ByteTable.of(pieces.bytes(wordBytes), wordEnds));
  const nameEnds = pieces.ends(names, nameBytes);
  const imported = textsOf(pieces.bytes(nameBytes), nameEnds);
  const pathEnds = pieces.ends(count, pathBytes);
  const paths = textsOf(pieces.bytes(pathBytes), pathEnds);
  const stamps = pieces.times(STAMPS * count);
  const figures = pieces.numbers(PER_FILE * count);
  const references = pieces.numbers(refs);
  const allTerms = pieces.numbers(terms);
  const allCounts = pieces.counts(terms);
  const files = new Map<string, StampedFacts>();
  let term = 0;
  let reference = 0;
  for (const [index, path] of paths.entries()) {
    const [size = 0, modified = 0, changed = 0, inode = 0, read = 0] = stamps.subarray(
      STAMPS * index,
      STAMPS * (index + 1),
    );
    const [length = 0, held = 0, imports = 0] = figures.subarray(
      PER_FILE * index,
      PER_FILE * (index + 1),
    );
    files.set(path, {
      size,
      modified,
      changed,
      inode,
      read,
      length,
      imports: Array.from(
        references.subarray(reference, reference + imports),
        (number) => imported[number] ?? '',
      ),
      terms: allTerms.subarray(term, term + held),
      counts: allCounts.subarray(term, term + held),
    });
    term += held;
    reference += imports;
  }
  return { vocabulary, files };
}

interface TextTable {
  readonly bytes: Uint8Array;
  /** Where each text ends. */
  readonly ends: Uint32Array;
}

interface UsedWords extends TextTable {
  renumbered(terms: Uint32Array): Uint32Array;
}

function usedWords({ table }: Vocabulary, files: StoredIndex['files']): UsedWords {
  const numbers = new Uint32Array(table.size);
  for (const { terms } of files.values()) for (const term of terms) numbers[term] = 1;
  let bytes = 0;
  let used = 0;
  for (const [number, isUsed] of numbers.entries()) {
    if (isUsed === 0) continue;
    bytes += table.bytesOf(number).length;
    used += 1;
  }
  const all = { bytes: new Uint8Array(bytes), ends: new Uint32Array(used) };
  let at = 0;
  let next = 0;
  for (const [number, isUsed] of numbers.entries()) {
    if (isUsed === 0) continue;
    const word = table.bytesOf(number);
    all.bytes.set(word, at);
    at += word.length;
    all.ends[next] = at;
    numbers[number] = next;
    next += 1;
  }
  return {
    ...all,
    renumbered: (terms) => (used === table.size ? terms : terms.map((term) => numbers[term] ?? 0)),
  };
}

function textTable(texts: readonly string[]): TextTable {
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    end += Buffer.byteLength(text);
    ends[index] = end;
  }
  const bytes = Buffer.alloc(end);
  for (const [index, text] of texts.entries())
    bytes.write(text, index === 0 ? 0 : (ends[index - 1] ?? 0));
  return { bytes, ends };
}

function textsOf(bytes: Uint8Array, ends: Uint32Array): readonly string[] {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  return Array.from(ends, (end) => {
    const text = whole.toString('utf8', start, end);
    start = end;
    return text;
  });
}

function* stampsOf(files: StoredIndex['files']): Generator<Float64Array> {
  for (const { size, modified, changed, inode, read } of files.values()) {
    yield Float64Array.of(size, modified, changed, inode, read);
  }
}

function* perFile(files: StoredIndex['files']): Generator<Uint32Array> {
  for (const { length, terms, imports } of files.values()) {
    yield Uint32Array.of(length, terms.length, imports.length);
  }
}

type Numbers = Uint32Array | Uint16Array;

function* ofEach(
  files: StoredIndex['files'],
  of: (file: StampedFacts) => Numbers,
): Generator<Numbers> {
  for (const file of files.values()) yield of(file);
}

function paddingAfter(length: number): number {
  return (ALIGNED - (length % ALIGNED)) % ALIGNED;
}

/** The pieces of an index one after the other. Throws where there is less than there should be. */
class Pieces {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  bytes(length: number): Uint8Array {
    const from = this.#at;
    if (from + length > this.#bytes.length) throw new Error('too short');
    this.#at = from + length + paddingAfter(length);
    return this.#bytes.subarray(from, from + length);
  }

  numbers(length: number): Uint32Array {
    const { buffer, byteOffset } = this.bytes(length * Uint32Array.BYTES_PER_ELEMENT);
    return new Uint32Array(buffer, byteOffset, length);
  }

  /** Where texts end that take so many bytes together. */
  ends(count: number, bytes: number): Uint32Array {
    const ends = this.numbers(count);
    let before = 0;
    for (const end of ends) {
      if (end < before) throw new Error('texts that overlap');
      before = end;
    }
    if (before !== bytes) throw new Error('texts that are longer or shorter than they take');
    return ends;
  }

  counts(length: number): Uint16Array {
    const { buffer, byteOffset } = this.bytes(length * Uint16Array.BYTES_PER_ELEMENT);
    return new Uint16Array(buffer, byteOffset, length);
  }

  times(length: number): Float64Array {
    const { buffer, byteOffset } = this.bytes(length * Float64Array.BYTES_PER_ELEMENT);
    return new Float64Array(buffer, byteOffset, length);
  }
}
