import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import {
  ownerOfDirectory,
  PRODUCT_HOMES,
  type DirectoryOwner,
  type SearchContext,
} from '../../agents/loader/search-context.ts';
import { byteLength, plural } from '../../base/text.ts';
import { isInside } from '../../base/path-inside.ts';
import type { UncutFile } from './fit-files.ts';
import { findImports } from './find-imports.ts';
import { readContextFile, type ContextFileRequest } from './read-context-file.ts';
import { expandHome } from '../../sys/files/paths.ts';

export interface CollectOptions extends Pick<ContextFileRequest, 'isWithheld'> {
  /** The search context of the directory to which names are relative. */
  readonly around: SearchContext;
  readonly home: string;
  /** Removes secrets from a text before it is sent or written. */
  readonly redact: (text: string) => string;
}

export interface CollectedFiles {
  readonly files: readonly UncutFile[];
  /** Notices for the user, one line each. */
  readonly problems: readonly string[];
  /** All paths that the result depends on, existing or not. */
  readonly checkedPaths: readonly string[];
}

/** The maximum number of imports in a row, as in Claude Code and Gemini CLI. */
const MAX_DEPTH = 5;
/** The maximum number of files and bytes that are read for one directory. */
const MAX_FILES = 64;
const MAX_BYTES = 1024 * 1024;
/** The maximum number of paths that are checked for changes. */
const MAX_CHECKED_PATHS = 1_000;
const MAX_PROBLEMS = 10;

/** The scope of a file and of all files that it imports. */
interface Scope extends Pick<UncutFile, 'level' | 'scope'>, Pick<ContextFileRequest, 'boundary'> {}

/** A file that imports others. */
interface Importer {
  /** Its name. */
  readonly from: string;
  /** The depth of the files that it imports. A file that is read by its own name has 0. */
  readonly depth: number;
}

/** A file that is to be read. */
interface Wanted {
  readonly path: string;
  readonly place: Scope;
  readonly by: Importer | null;
}

/** Reads all context files with their imports. The same file, or the same text, counts once. */
export function collectFiles(options: CollectOptions): CollectedFiles {
  const collection = new Collection(options);
  // If a limit is reached, or two directories have the same text, the nearest directory has precedence.
  const places = contextLocations(options.around).toSorted((a, b) => b.level - a.level);
  for (const place of places) collection.addFirst(place);
  return collection.result();
}

class Collection {
  readonly #options: CollectOptions;
  readonly #files: UncutFile[] = [];
  readonly #problems: string[] = [];
  readonly #checkedPaths = new Set<string>();
  /** Real paths and texts that were read before. */
  readonly #known = new Set<string>();
  /**
   * Problems of imports that are too deep, by path. They are reported unless a shorter way leads to the file.
   */
  readonly #tooDeep = new Map<string, string>();
  readonly #wanted: Wanted[] = [];
  #read = 0;
  #bytes = 0;
  #isFull = false;

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  result(): CollectedFiles {
    for (const [path, problem] of this.#tooDeep) if (!this.#isMet(path)) this.#report(problem);
    const more = this.#problems.length - MAX_PROBLEMS;
    const rest = more > 0 ? [`${plural(more, 'more problem')} with context files`] : [];
    return {
      files: this.#files.toSorted((a, b) => a.level - b.level),
      problems: [...this.#problems.slice(0, MAX_PROBLEMS), ...rest],
      checkedPaths: [...this.#checkedPaths],
    };
  }

  addFirst(place: ContextLocation): void {
    for (const path of place.paths) {
      this.#checkedPaths.add(path);
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
      this.#report(
        `more than ${MAX_FILES} context files, or ${MAX_BYTES} bytes: what comes from ${name} on is left out`,
      );
      return;
    }
    const { boundary } = place;
    const reading = readContextFile({ path, boundary, isWithheld: this.#options.isWithheld });
    if (reading.kind === 'absent') return;
    if (reading.kind === 'refused') {
      const how = by === null ? '' : `, which ${by.from} imports,`;
      this.#report(`context file ${name}${how} ${reading.reason}: it is left out`);
      return;
    }
    this.#read += 1;
    this.#bytes += byteLength(reading.text);
    if (reading.note !== undefined) this.#report(`context file ${name} ${reading.note}`);
    if (this.#isKnown(`path ${reading.real}`)) return;
    const isSaid = this.#isKnown(`text ${reading.text}`);
    const { paths, isAll } = findImports(reading.text);
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
    if (this.#checkedPaths.size < MAX_CHECKED_PATHS) this.#checkedPaths.add(path);
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

  /** Returns whether the file has been read. */
  #isMet(path: string): boolean {
    return this.#known.has(`path ${real(path)}`);
  }

  #isKnown(what: string): boolean {
    const isKnown = this.#known.has(what);
    this.#known.add(what);
    return isKnown;
  }

  #report(problem: string): void {
    this.#problems.push(problem);
  }
}

/** Returns whether a path exists and is no directory. True also if it cannot be inspected. */
function isNoDirectory(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !stats.isDirectory();
  } catch {
    // A link in a circle, or no right to look: whoever opens it says so.
    return true;
  }
}

/** Returns the real path, or the path itself if it does not exist or cannot be inspected. */
function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/**
 * A location of a context file. Most locations are empty, so the owner is only computed for existing files.
 */
export interface ContextLocation {
  /** Absolute paths. The first existing one counts. */
  readonly paths: readonly string[];
  /**
   * The nearness to the working directory. If there is not room for all files, those with a higher level precede.
   */
  readonly level: number;
  /**
   * Returns the owner of a file there, with the absolute directory that no link or import may leave.
   */
  readonly owner: (path: string) => DirectoryOwner;
}

/** The override of Codex replaces the other file. */
const AGENTS = ['AGENTS.override.md', 'AGENTS.md'];

/** The files that products document for any directory of a project, in the order of the prompt. */
const IN_DIRECTORY: readonly (readonly string[])[] = [
  AGENTS,
  ['.github/copilot-instructions.md'],
  ['GEMINI.md'],
  ['QWEN.md'],
  ['CLAUDE.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
];

/**
 * Returns all locations for a directory: the user's own first, then from the root of the project down.
 */
export function contextLocations({
  user,
  directories,
  root,
}: SearchContext): readonly ContextLocation[] {
  const ofProject = (): DirectoryOwner => ({ scope: 'project', boundary: root });
  const ofUser = (path: string): DirectoryOwner => ownerOfDirectory(path, user, root);
  const placesIn = (
    directory: string,
    names: readonly (readonly string[])[],
    rest: Omit<ContextLocation, 'paths'>,
  ): readonly ContextLocation[] =>
    names.map((alike) => ({ paths: alike.map((name) => `${directory}/${name}`), ...rest }));
  const { claude, codex, copilot, gemini, pi, qwen } = PRODUCT_HOMES;
  const others = { level: 0, owner: ofUser };
  return [
    ...placesIn(copilot(user), [['copilot-instructions.md']], others),
    ...placesIn(gemini(user), [['GEMINI.md']], others),
    ...placesIn(qwen(user), [['QWEN.md']], others),
    ...placesIn(join(user.config, 'opencode'), [['AGENTS.md']], others),
    ...placesIn(pi(user), [['AGENTS.md']], others),
    ...placesIn(codex(user), [AGENTS], others),
    ...placesIn(claude(user), [['CLAUDE.md']], others),
    ...placesIn(join(user.config, 'muster'), [['AGENTS.md']], { level: 1, owner: ofUser }),
    ...directories
      .toReversed()
      .flatMap((directory, index) =>
        placesIn(directory, IN_DIRECTORY, { level: 2 + index, owner: ofProject }),
      ),
  ];
}
