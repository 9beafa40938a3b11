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

export interface CollectOptions extends Pick<ContextFileRequest, 'isExcluded'> {
  /** The search context of the working directory. Names in messages are relative to it. */
  readonly searchContext: SearchContext;
  readonly home: string;
  /** Removes secrets from a text before it is sent or written. */
  readonly redact: (text: string) => string;
}

export interface CollectedFiles {
  readonly files: readonly UncutFile[];
  /** The problems to report to the user, one line each. */
  readonly problems: readonly string[];
  /** All paths on which the result depends, whether or not they exist. */
  readonly checkedPaths: readonly string[];
}

/** The maximum length of a chain of imports, as in Claude Code and Gemini CLI. */
const MAX_DEPTH = 5;
/** The maximum number of files that are read for one directory. */
const MAX_FILES = 64;
/** The maximum number of bytes that are read for one directory. */
const MAX_BYTES = 1024 * 1024;
/** The maximum number of paths that are checked for changes. */
const MAX_CHECKED_PATHS = 1_000;
const MAX_PROBLEMS = 10;

/** The properties that a file and all files that it imports have in common. */
interface FileGroup
  extends Pick<UncutFile, 'level' | 'scope'>, Pick<ContextFileRequest, 'boundary'> {}

/** A file that imports others. */
interface Importer {
  /** The name of the file, for messages. */
  readonly name: string;
  /** The depth of the imported files. A file that is not imported has depth 0. */
  readonly depth: number;
}

/** A file to read. */
interface FileRequest {
  readonly path: string;
  readonly group: FileGroup;
  readonly importer: Importer | null;
}

/** Reads all context files with their imports. The same file, or the same text, is used only once. */
export function collectFiles(options: CollectOptions): CollectedFiles {
  const collection = new Collection(options);
  // If a limit is reached, or two directories have the same text, the nearest directory has precedence.
  const locations = contextLocations(options.searchContext).toSorted((a, b) => b.level - a.level);
  for (const location of locations) collection.addFirstExisting(location);
  return collection.result();
}

class Collection {
  readonly #options: CollectOptions;
  readonly #files: UncutFile[] = [];
  readonly #problems: string[] = [];
  readonly #checkedPaths = new Set<string>();
  /** Real paths and texts that have been read. */
  readonly #known = new Set<string>();
  /**
   * Problems of imports that are too deep, by path. They are reported unless the file is also read at a lower depth.
   */
  readonly #tooDeep = new Map<string, string>();
  readonly #queue: FileRequest[] = [];
  #filesRead = 0;
  #bytesRead = 0;
  #isFull = false;

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  result(): CollectedFiles {
    for (const [path, problem] of this.#tooDeep) if (!this.#wasRead(path)) this.#report(problem);
    const more = this.#problems.length - MAX_PROBLEMS;
    const rest = more > 0 ? [`${plural(more, 'more problem')} with context files`] : [];
    return {
      files: this.#files.toSorted((a, b) => a.level - b.level),
      problems: [...this.#problems.slice(0, MAX_PROBLEMS), ...rest],
      checkedPaths: [...this.#checkedPaths],
    };
  }

  /** Reads the first existing file of a location, and all files that it imports. */
  addFirstExisting(location: ContextLocation): void {
    for (const path of location.paths) {
      this.#checkedPaths.add(path);
      if (!this.#options.searchContext.paths.mayExist(path)) continue;
      const { scope, boundary } = location.owner(path);
      const { level } = location;
      this.#queue.push({
        path,
        group: { scope, level, boundary: resolveLinks(boundary) },
        importer: null,
      });
      break;
    }
    // Read files in the order of their depth, because a file may be imported at several depths.
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (next.importer === null || !this.#wasRead(next.path)) this.#add(next);
    }
  }

  #add({ path, group, importer }: FileRequest): void {
    const name = this.#formatName(path, group);
    if (this.#isFull) return;
    if (this.#filesRead >= MAX_FILES || this.#bytesRead >= MAX_BYTES) {
      this.#isFull = true;
      this.#report(
        `more than ${MAX_FILES} context files, or ${MAX_BYTES} bytes: ${name} and all later files are left out`,
      );
      return;
    }
    const { boundary } = group;
    const reading = readContextFile({ path, boundary, isExcluded: this.#options.isExcluded });
    if (reading.kind === 'absent') return;
    if (reading.kind === 'refused') {
      const origin = importer === null ? '' : `, which ${importer.name} imports,`;
      this.#report(`context file ${name}${origin} ${reading.reason}: it is left out`);
      return;
    }
    this.#filesRead += 1;
    this.#bytesRead += byteLength(reading.text);
    if (reading.note !== undefined) this.#report(`context file ${name} ${reading.note}`);
    if (!this.#addIfNew(`path ${reading.real}`)) return;
    const isNewText = this.#addIfNew(`text ${reading.text}`);
    const { paths, isAll } = findImports(reading.text);
    const text = this.#options.redact(reading.text);
    // Leave out a file that contains nothing but imports.
    if (text !== '' && !isAll && isNewText) {
      const imported = importer === null ? {} : { importedBy: importer.name };
      this.#files.push({ name, scope: group.scope, ...imported, text, level: group.level });
    }
    // Follow the imports of a copy, too: the same relative paths lead to other files from another directory.
    const origin = { name, depth: (importer?.depth ?? 0) + 1 };
    for (const each of paths) this.#queueImport(each, path, { group, importer: origin });
  }

  #queueImport(
    written: string,
    importingPath: string,
    { group, importer }: { readonly group: FileGroup; readonly importer: Importer },
  ): void {
    const path = this.#resolveImport(written, importingPath);
    if (this.#checkedPaths.size < MAX_CHECKED_PATHS) this.#checkedPaths.add(path);
    // If the path does not exist or is a directory, it is not an import but another word that begins with `@`.
    if (!isExistingNonDirectory(path)) return;
    if (importer.depth <= MAX_DEPTH) {
      this.#queue.push({ path, group, importer });
    } else if (!this.#tooDeep.has(path)) {
      const problem = `context file ${importer.name} imports ${written} at a depth of more than ${MAX_DEPTH}: it is left out`;
      this.#tooDeep.set(path, problem);
    }
  }

  #resolveImport(written: string, importingPath: string): string {
    const path = expandHome(written, this.#options.home);
    return isAbsolute(path) ? join(path) : join(dirname(importingPath), path);
  }

  #formatName(path: string, { scope }: FileGroup): string {
    const { searchContext, home } = this.#options;
    if (scope === 'project') return relative(searchContext.cwd, path);
    return isInside(home, path) ? `~/${relative(home, path)}` : path;
  }

  /** Checks whether the file at a path has been read. */
  #wasRead(path: string): boolean {
    return this.#known.has(`path ${resolveLinks(path)}`);
  }

  /** Adds a path or text to the known ones. Returns false if it was already known. */
  #addIfNew(key: string): boolean {
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    return true;
  }

  #report(problem: string): void {
    this.#problems.push(problem);
  }
}

/** Checks whether a path exists and is not a directory. Returns true also if the path cannot be inspected. */
function isExistingNonDirectory(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !stats.isDirectory();
  } catch {
    // The path is a circular link, or must not be inspected. Opening it reports the reason.
    return true;
  }
}

/** Returns the real path, or the path itself if it does not exist or cannot be inspected. */
function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/**
 * A location of a context file. Most locations do not exist, so the owner is only computed for existing files.
 */
export interface ContextLocation {
  /** Absolute paths. Only the first existing file is read. */
  readonly paths: readonly string[];
  /**
   * A number that is higher for locations nearer to the working directory. If not all files fit, files with a higher
   * level take precedence.
   */
  readonly level: number;
  /**
   * Returns the owner of a file of this location, with the absolute directory that no link or import may leave.
   */
  readonly owner: (path: string) => DirectoryOwner;
}

/** The override of Codex replaces `AGENTS.md`. */
const AGENTS = ['AGENTS.override.md', 'AGENTS.md'];

/** The files that products document for any directory of a project, in the order of the prompt. */
const PROJECT_FILES: readonly (readonly string[])[] = [
  AGENTS,
  ['.github/copilot-instructions.md'],
  ['GEMINI.md'],
  ['QWEN.md'],
  ['CLAUDE.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
];

/**
 * Returns all locations for a directory: first the locations of the user, then those of the project from its root down.
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
        placesIn(directory, PROJECT_FILES, { level: 2 + index, owner: ofProject }),
      ),
  ];
}
