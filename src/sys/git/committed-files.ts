import { ObjectReader } from './object-reader.ts';
import type { Repository } from './repository.ts';

/** A file as git stores it. */
export interface StoredFile {
  /** The path from the top of the repository, with `/`. */
  readonly path: string;
  readonly mode: '100644' | '100755' | '120000';
  /** The id of the object. */
  readonly id: string;
}

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

type Tree = ReadonlyMap<string, TreeEntry>;

/** The maximum number of commits that are searched. */
const MAX_COMMITS = 2_000;
const SEARCH_TIMEOUT_MS = 3_000;

/**
 * Finds the files that exist, with this content and mode, in a commit that can be reached from one of the tips
 * (ids of commits or tags). Every object that is read is checked against its id. The search covers the 2,000 commits
 * that are nearest to the tips and takes at most 3 s. Files that are not found within these limits count as not
 * committed. Never rejects.
 */
export async function findCommittedFiles(
  { gitDirectory }: Repository,
  tips: ReadonlySet<string>,
  files: readonly StoredFile[],
  { git }: { readonly git: string },
): Promise<ReadonlySet<StoredFile>> {
  const found = new Set<StoredFile>();
  if (tips.size === 0 || files.length === 0) return found;
  const reader = new ObjectReader(git, gitDirectory);
  const giveUp = setTimeout(() => reader.close(), SEARCH_TIMEOUT_MS);
  try {
    const trees = new TreeCache(reader);
    const searchedTrees = new Set<string>();
    for await (const top of findTreeIds(reader, tips)) {
      if (searchedTrees.has(top)) continue;
      searchedTrees.add(top);
      for (const file of files) {
        if (found.has(file)) continue;
        const entry = await trees.entry(top, file.path.split('/'));
        if (entry?.id === file.id && entry.mode === file.mode) found.add(file);
      }
      if (found.size === files.length) break;
    }
    return found;
  } finally {
    clearTimeout(giveUp);
    reader.close();
  }
}

/** Yields the ids of the trees of the commits, beginning with the commits nearest to the tips. */
async function* findTreeIds(
  reader: ObjectReader,
  tips: ReadonlySet<string>,
): AsyncGenerator<string, void, undefined> {
  const known = new Set(tips);
  const waiting = [...tips];
  for (let at = 0; at < waiting.length && at < MAX_COMMITS; at += 1) {
    const object = await reader.read(waiting[at] ?? '');
    if (object === null || (object.type !== 'commit' && object.type !== 'tag')) continue;
    const [head = ''] = object.content.toString('latin1').split('\n\n', 1);
    const lines = head.split('\n');
    const ids = (key: string): readonly string[] =>
      lines.flatMap((line) => (line.startsWith(`${key} `) ? [line.slice(key.length + 1)] : []));
    for (const id of object.type === 'tag' ? ids('object') : ids('parent')) {
      if (!known.has(id)) waiting.push(id);
      known.add(id);
    }
    if (object.type === 'commit') yield ids('tree')[0] ?? '';
  }
}

class TreeCache {
  private readonly reader: ObjectReader;
  private readonly read = new Map<string, Tree>();

  constructor(reader: ObjectReader) {
    this.reader = reader;
  }

  async entry(top: string, names: readonly string[]): Promise<TreeEntry | undefined> {
    let at: TreeEntry | undefined = { mode: '40000', id: top };
    for (const name of names) {
      if (at?.mode !== '40000') return undefined;
      at = (await this.tree(at.id)).get(name);
    }
    return at;
  }

  private async tree(id: string): Promise<Tree> {
    const known = this.read.get(id);
    if (known !== undefined) return known;
    const object = await this.reader.read(id);
    const tree = object?.type === 'tree' ? parseTree(object.content, id.length / 2) : new Map();
    this.read.set(id, tree);
    return tree;
  }
}

/** Parses `mode name\0id` entries, with ids of `idBytes` bytes (gitformat-pack(5) refers to git-mktree(1)). */
function parseTree(content: Buffer, idBytes: number): Tree {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(32, at);
    const zero = content.indexOf(0, blank);
    if (blank === -1 || zero === -1) break;
    const mode = content.toString('latin1', at, blank);
    const name = content.toString('utf8', blank + 1, zero);
    const end = zero + 1 + idBytes;
    entries.set(name, { mode, id: content.toString('hex', zero + 1, end) });
    at = end;
  }
  return entries;
}
