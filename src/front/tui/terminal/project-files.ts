import { exactLine } from '../../../base/terminal-text.ts';

/** After so long the directory is looked at again. */
const FRESH_MS = 10_000;

interface Listing {
  readonly at: number;
  readonly paths: Promise<readonly string[]>;
}

/** The files that can be named: listed when the first is asked for, and nobody waits for it but who asks. */
export class ProjectFiles {
  private readonly list: (signal: AbortSignal) => Promise<readonly string[]>;
  private readonly now: () => number;
  private readonly stopped = new AbortController();
  private listing: Listing | null = null;

  constructor(
    list: (signal: AbortSignal) => Promise<readonly string[]>,
    { now }: { readonly now: () => number },
  ) {
    this.list = list;
    this.now = now;
  }

  /** Never rejects: a directory that can't be listed has none to offer. */
  async find(typed: string): Promise<readonly string[]> {
    return rankFiles(await this.paths(), typed);
  }

  stop(): void {
    this.stopped.abort();
  }

  private paths(): Promise<readonly string[]> {
    const { listing } = this;
    if (listing !== null && this.now() - listing.at < FRESH_MS) return listing.paths;
    const paths = this.list(this.stopped.signal).then(
      (found) => found.filter(isPlainText),
      // Gone, or not to be looked into: what is typed is text all the same.
      () => [],
    );
    this.listing = { at: this.now(), paths };
    return paths;
  }
}

/** Files that are offered at a time. */
const MOST_OFFERED = 20;

/** The paths that fit what is typed, the best first: by name, then anywhere in the path, then letter by letter. */
export function rankFiles(paths: readonly string[], typed: string): readonly string[] {
  const query = typed.toLowerCase();
  const ranked: { readonly path: string; readonly rank: number }[] = [];
  for (const path of paths) {
    const rank = rankOf(path, query);
    if (rank !== null) ranked.push({ path, rank });
  }
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MOST_OFFERED)
    .map(({ path }) => path);
}

/** The lower the better; null: it does not fit. */
function rankOf(path: string, query: string): number | null {
  if (query === '') return depthOf(path);
  const low = path.toLowerCase();
  const name = low.lastIndexOf('/') + 1;
  if (low.startsWith(query, name)) return 0;
  if (low.startsWith(query)) return 1;
  if (low.includes(query, name)) return 2;
  if (low.includes(query)) return 3;
  const spread = spreadOf(low, query);
  return spread === null ? null : 4 + spread;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

/** How many letters stand between those of the query, where they come in their order. */
function spreadOf(low: string, query: string): number | null {
  let at = -1;
  let first = -1;
  for (const letter of query) {
    at = low.indexOf(letter, at + 1);
    if (at === -1) return null;
    if (first === -1) first = at;
  }
  return at - first + 1 - query.length;
}

/** Whether a path can stand in a message as it is: no quote would end it, and nothing in it steers a terminal. */
export function isPlainText(path: string): boolean {
  return !path.includes('"') && exactLine(path) === path;
}

/** How a file is named in a message: `@src/a.ts`, `@"my notes.md"`. */
export function mentionOf(path: string): string {
  return /^[\w./\\:~+,=#%()[\]-]*[\w/\\]$/.test(path) ? `@${path}` : `@"${path}"`;
}

/** What is typed of a name before the cursor, from its `@`; null: none is. */
export function typedMention(
  before: string,
): { readonly prefix: string; readonly typed: string } | null {
  const [prefix, quoted, plain = ''] = /(?<!\S)@(?:"([^"]*)|([^\s"]*))$/.exec(before) ?? [];
  return prefix === undefined ? null : { prefix, typed: quoted ?? plain };
}
