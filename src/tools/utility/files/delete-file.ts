import { rmdirSync, unlinkSync } from 'node:fs';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { basename, dirname } from 'node:path';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { errorInfo, MusterError } from '../../../base/errors.ts';
import type { FileChange, ToolContext, ToolOutput } from '../../../protocol/tool.ts';
import {
  readEntryStats,
  withHeldEntry,
  type HeldEntry,
} from '../../../sys/files/entry-in-roots.ts';
import { toFileError } from '../../../sys/files/file-errors.ts';
import { holdDirectory, type HeldDirectory } from '../../../sys/files/held-directory.ts';
import { changeAsMuster } from '../../../sys/files/own-writes.ts';
import { toAbsolutePath, displayPath } from '../../../sys/files/paths.ts';
import { isSameFile, requireExpected, syncDirectory } from '../../../sys/files/write-file.ts';
import { FILE_PATH, FILE_PATH_ALIASES, defineBuiltinTool } from '../../shared/define-tool.ts';
import { savePreviousContent, permissionBits } from '../../shared/change-file.ts';
import { failure } from '../../shared/output.ts';
import { addPathSuggestion } from '../../shared/path-suggestions.ts';
import { describeFileTree, readFileTree, type TreeEntry } from './file-tree.ts';

export const deleteFileTool = defineBuiltinTool({
  name: 'DeleteFile',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Delete a file, an empty directory or, with recursive, a directory and all in it. There is no undo.',
  input: {
    type: 'object',
    properties: { file_path: FILE_PATH, recursive: { type: 'boolean' } },
    required: ['file_path'],
  },
  aliases: FILE_PATH_ALIASES,
  describe: (input, { cwd }) => ({ ...NO_ACCESS, writes: [toAbsolutePath(input.file_path, cwd)] }),
  run: ({ file_path: path, recursive = false }, context) =>
    deletePath(toAbsolutePath(path, context.cwd), { recursive }, context),
});

/**
 * Deletes a file, an empty directory or, with `recursive`, a directory with everything in it.
 *
 * @param path absolute; it may contain links that lie in the roots
 */
export async function deletePath(
  path: string,
  { recursive }: { readonly recursive: boolean },
  context: ToolContext,
): Promise<ToolOutput> {
  try {
    return await withHeldEntry(path, context, async (entry) => {
      const { stats } = entry;
      if (stats === undefined) throw new MusterError('NOT_FOUND', `${path} does not exist`);
      const withheld = [context.excludedPathsBelow({ asked: path, real: entry.real })];
      const tree = await readFileTree({ ...entry, stats }, { recursive, withheld }, context);
      return await deleteTree(entry, tree, context);
    });
  } catch (thrown) {
    throw addPathSuggestion(thrown, path, context);
  }
}

/**
 * Deletes the entries of a tree. If an entry cannot be deleted, the output names the files that were deleted before it.
 */
async function deleteTree(
  top: HeldEntry,
  tree: readonly TreeEntry[],
  context: ToolContext,
): Promise<ToolOutput> {
  const changed: FileChange[] = [];
  try {
    // The content of a directory is deleted before the directory.
    for (const entry of tree.toReversed()) {
      context.signal.throwIfAborted();
      const { real, hash, stats } = entry;
      if (hash === null) {
        remove(top, entry);
        continue;
      }
      await savePreviousContent({ real, hash, root: top.root }, context);
      context.files.willRemove(real);
      remove(top, entry);
      changed.push({ path: real, before: hash, after: null, mode: permissionBits(stats) });
    }
    await syncDirectory(top.directory.at('.'));
  } catch (thrown) {
    if (changed.length === 0) throw thrown;
    return createPartialOutput(thrown, changed, context);
  }
  const shown = displayPath(top.real, context.cwd);
  return { text: `Deleted ${describeFileTree(tree)} ${shown}.`, facts: { changed } };
}

function createPartialOutput(
  thrown: unknown,
  changed: readonly FileChange[],
  { signal, cwd }: ToolContext,
): ToolOutput {
  const error = signal.aborted
    ? new MusterError('CANCELLED', 'DeleteFile was cancelled')
    : errorInfo(thrown);
  const deleted = changed.map(({ path }) => displayPath(path, cwd)).join(', ');
  return failure(error.code, `${error.message}. Deleted before that: ${deleted}.`, { changed });
}

function remove(top: HeldEntry, entry: TreeEntry): void {
  if (entry.path === '') {
    removeFrom(top.directory, entry);
    return;
  }
  const directory = holdDirectory(top.root, dirname(entry.real));
  using _close = atScopeEnd(() => directory.close());
  directory.verify();
  removeFrom(directory, entry);
}

/** Removes a name from a directory that is held open, so that no link is followed. */
function removeFrom(directory: HeldDirectory, { real, stats }: TreeEntry): void {
  const name = basename(real);
  try {
    if (stats.isFile()) requireExpected(real, directory.at(name), stats);
    const found = readEntryStats(directory, name);
    if (found === undefined || !isSameEntry(found, stats)) throw changedError(real);
    changeAsMuster([real], () => {
      if (stats.isDirectory()) rmdirSync(directory.at(name));
      else unlinkSync(directory.at(name));
    });
  } catch (thrown) {
    throw toFileError(real, thrown);
  }
}

/**
 * Returns whether an entry is still the same. For a directory, only its identity is compared, because deleting its
 * content has changed it.
 */
function isSameEntry(found: TreeEntry['stats'], stats: TreeEntry['stats']): boolean {
  if (!stats.isDirectory()) return isSameFile(found, stats);
  return found.isDirectory() && found.ino === stats.ino && found.dev === stats.dev;
}

function changedError(path: string): MusterError {
  const message = `${path} was changed by somebody else just now; it was not deleted`;
  return new MusterError('CONFLICT', message, { retryable: true });
}
