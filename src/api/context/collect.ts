import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { SearchContext } from '../../agents/loader/search-context.ts';
import { byteLength, plural } from '../../base/text.ts';
import { isInside } from '../../base/path-inside.ts';
import type { WholeFile } from './fit.ts';
import { importsIn } from './imports.ts';
import { contextPlaces, type ContextPlace } from './places.ts';
import { readContextFile, type ContextRequest } from './read-context-file.ts';
import { expandHome } from '../../sys/files/paths.ts';

export interface CollectOptions extends Pick<ContextRequest, 'isWithheld'> {
  /** Of the directory that names are told from. */
  readonly around: SearchContext;
  readonly home: string;
  /** What is done to a text before it is sent, or written down. */
  readonly redact: (text: string) => string;
}

export interface Collected {
  readonly files: readonly WholeFile[];
  /** What a person should know, a line each. */
  readonly problems: readonly string[];
  /** All paths that it depends on, there or not. */
  readonly looked: readonly string[];
}

/** Files from the first one that is read by its name on, as Claude Code and Gemini CLI count. */
const MAX_DEPTH = 5;
/** What is read for one directory. */
const MAX_FILES = 64;
const MAX_BYTES = 1024 * 1024;
/** Paths whose change is noticed. */
const MAX_LOOKED = 1_000;
const MAX_PROBLEMS = 10;

/** Whose a file is, and whatever it imports. */
interface Scope extends Pick<WholeFile, 'level' | 'scope'>, Pick<ContextRequest, 'boundary'> {}

/** What brings a file in. */
interface Importer {
  /** Its name. */
  readonly from: string;
  /** Of what it brings in; what is read by its own name has 0. */
  readonly depth: number;
}

/** A file that is still to be read. */
interface Wanted {
  readonly path: string;
  readonly place: Scope;
  readonly by: Importer | null;
}

/** Reads all context files, with what they import. The same file, or text, counts once. */
export function collectFiles(options: CollectOptions): Collected {
  const collection = new Collection(options);
  // Where a limit is hit, or a text lies in two places, the nearest directory goes before.
  const places = contextPlaces(options.around).toSorted((a, b) => b.level - a.level);
  for (const place of places) collection.addFirst(place);
  return collection.result();
}

class Collection {
  readonly #options: CollectOptions;
  readonly #files: WholeFile[] = [];
  readonly #problems: string[] = [];
  readonly #looked = new Set<string>();
  /** Real paths and texts that have been met. */
  readonly #known = new Set<string>();
  /** Of imports at too great a depth: what is to be told if no shorter way leads there. */
  readonly #tooDeep = new Map<string, string>();
  readonly #wanted: Wanted[] = [];
  #read = 0;
  #bytes = 0;
  #isFull = false;

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  result(): Collected {
    for (const [path, problem] of this.#tooDeep) if (!this.#isMet(path)) this.#tell(problem);
    const more = this.#problems.length - MAX_PROBLEMS;
    const rest = more > 0 ? [`${plural(more, 'more problem')} with context files`] : [];
    return {
      files: this.#files.toSorted((a, b) => a.level - b.level),
      problems: [...this.#problems.slice(0, MAX_PROBLEMS), ...rest],
      looked: [...this.#looked],
    };
  }

  addFirst(place: ContextPlace): void {
    for (const path of place.paths) {
      this.#looked.add(path);
      if (!this.#options.around.paths.mayExist(path)) continue;
      const { scope, boundary } = place.owner(path);
      const { level } = place;
      this.#wanted.push({ path, place: { scope, level, boundary: real(boundary) }, by: null });
      break;
    }
    // Those that are nearest to the file go first: what is met on a long way may have a short one.
    for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
      if (next.by === null || !this.#isMet(next.path)) this.#add(next);
    }
  }

  #add({ path, place, by }: Wanted): void {
    const name = this.#nameOf(path, place);
    if (this.#isFull) return;
    if (this.#read >= MAX_FILES || this.#bytes >= MAX_BYTES) {
      this.#isFull = true;
      this.#tell(
        `more than ${MAX_FILES} context files, or ${MAX_BYTES} bytes: what comes from ${name} on is left out`,
      );
      return;
    }
    const { boundary } = place;
    const reading = readContextFile({ path, boundary, isWithheld: this.#options.isWithheld });
    if (reading.kind === 'absent') return;
    if (reading.kind === 'refused') {
      const how = by === null ? '' : `, which ${by.from} imports,`;
      this.#tell(`context file ${name}${how} ${reading.reason}: it is left out`);
      return;
    }
    this.#read += 1;
    this.#bytes += byteLength(reading.text);
    if (reading.note !== undefined) this.#tell(`context file ${name} ${reading.note}`);
    if (this.#isKnown(`path ${reading.real}`)) return;
    const isSaid = this.#isKnown(`text ${reading.text}`);
    const { paths, isAll } = importsIn(reading.text);
    const text = this.#options.redact(reading.text);
    // One that only imports says nothing itself.
    if (text !== '' && !isAll && !isSaid) {
      const imported = by === null ? {} : { importedBy: by.from };
      this.#files.push({ name, scope: place.scope, ...imported, text, level: place.level });
    }
    // Also of a copy: the same words name other files from another place.
    const from = { from: name, depth: (by?.depth ?? 0) + 1 };
    for (const each of paths) this.#import(each, path, { place, by: from });
  }

  #import(
    written: string,
    importer: string,
    { place, by }: { readonly place: Scope; readonly by: Importer },
  ): void {
    const path = this.#pathOf(written, importer);
    // A word with an `@`, or a directory that is mentioned.
    if (this.#looked.size < MAX_LOOKED) this.#looked.add(path);
    if (!isNoDirectory(path)) return;
    if (by.depth <= MAX_DEPTH) {
      this.#wanted.push({ path, place, by });
    } else if (!this.#tooDeep.has(path)) {
      const problem = `context file ${by.from} imports ${written} at a depth of more than ${MAX_DEPTH}: it is left out`;
      this.#tooDeep.set(path, problem);
    }
  }

  #pathOf(written: string, importer: string): string {
    const path = expandHome(written, this.#options.home);
    return isAbsolute(path) ? join(path) : join(dirname(importer), path);
  }

  #nameOf(path: string, { scope }: Scope): string {
    const { around, home } = this.#options;
    if (scope === 'project') return relative(around.cwd, path);
    return isInside(home, path) ? `~/${relative(home, path)}` : path;
  }

  /** Whether the file has been read. */
  #isMet(path: string): boolean {
    return this.#known.has(`path ${real(path)}`);
  }

  #isKnown(what: string): boolean {
    const isKnown = this.#known.has(what);
    this.#known.add(what);
    return isKnown;
  }

  #tell(problem: string): void {
    this.#problems.push(problem);
  }
}

/** Whether something is there that is no directory; what can't be looked at counts. */
function isNoDirectory(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !stats.isDirectory();
  } catch {
    // A link in a circle, or no right to look: whoever opens it says so.
    return true;
  }
}

/** What is not there, or can't be looked at, holds nothing, by whatever path. */
function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
