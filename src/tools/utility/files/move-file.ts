import { renameSync, type BigIntStats } from 'node:fs';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../../../base/errors.ts';
import type { FileChange, ToolContext, ToolOutput } from '../../../protocol/tool.ts';
import { changeAsMuster } from '../../../sys/files/own-writes.ts';
import {
  readEntryStats,
  withHeldEntry,
  type HeldEntry,
} from '../../../sys/files/entry-in-roots.ts';
import { describeFileType } from '../../../sys/files/file-errors.ts';
import { isInside } from '../../../base/path-inside.ts';
import { toAbsolutePath, displayPath } from '../../../sys/files/paths.ts';
import { withFile } from '../../../sys/files/read-file.ts';
import { isSameFile, requireExpected, syncDirectory } from '../../../sys/files/write-file.ts';
import { savePreviousContent, permissionBits, requireRead } from '../../shared/change-file.ts';
import { FILE_PATH, defineBuiltinTool } from '../../shared/define-tool.ts';
import { fileFingerprint } from '../../shared/file-text.ts';
import { addPathSuggestion } from '../../shared/path-suggestions.ts';
import { describeFileTree, readFileTree, type TreeEntry } from './file-tree.ts';

export const moveFileTool = defineBuiltinTool({
  name: 'MoveFile',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Move or rename a file, or with recursive a directory that is not empty. destination is the whole new path; missing directories are made. overwrite replaces a file that you have read.',
  input: {
    type: 'object',
    properties: {
      source: FILE_PATH,
      destination: FILE_PATH,
      overwrite: { type: 'boolean' },
      recursive: { type: 'boolean' },
    },
    required: ['source', 'destination'],
  },
  aliases: {
    source_path: 'source',
    from: 'source',
    old_path: 'source',
    src: 'source',
    file_path: 'source',
    path: 'source',
    destination_path: 'destination',
    to: 'destination',
    new_path: 'destination',
    dest: 'destination',
    dst: 'destination',
    target: 'destination',
  },
  describe: (input, { cwd }) => ({
    ...NO_ACCESS,
    writes: [toAbsolutePath(input.source, cwd), toAbsolutePath(input.destination, cwd)],
  }),
  async run({ overwrite = false, recursive = false, ...input }, context) {
    const source = toAbsolutePath(input.source, context.cwd);
    const destination = toAbsolutePath(input.destination, context.cwd);
    try {
      return await withHeldEntry(source, context, async (from) => {
        if (from.stats === undefined) {
          throw new MusterError('NOT_FOUND', `${source} does not exist`);
        }
        const move = { source, destination, overwrite, recursive };
        return await moveEntry({ ...from, stats: from.stats }, move, context);
      });
    } catch (thrown) {
      throw addPathSuggestion(thrown, source, context);
    }
  },
});

interface RequestedMove {
  /** The absolute path of the entry to move. */
  readonly source: string;
  /** The absolute new path. */
  readonly destination: string;
  readonly overwrite: boolean;
  readonly recursive: boolean;
}

type FoundEntry = HeldEntry & { readonly stats: BigIntStats };

async function moveEntry(
  from: FoundEntry,
  move: RequestedMove,
  context: ToolContext,
): Promise<ToolOutput> {
  const { source, destination, overwrite, recursive } = move;
  const realTo = context.judged.get(destination)?.real ?? destination;
  if (isInside(from.real, realTo)) {
    const message = `destination: ${destination} is source itself, or lies in it`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const withheld = [
    context.excludedPathsBelow({ asked: source, real: from.real }),
    context.excludedPathsBelow({ asked: destination, real: realTo }),
  ];
  const tree = await readFileTree(from, { recursive, withheld }, context);
  const moveInto = async (to: HeldEntry): Promise<ToolOutput> => {
    const before = await prepareReplacement(from, to, { destination, overwrite }, context);
    return await renameTree(from, to, { tree, before }, context);
  };
  return await withHeldEntry(destination, context, moveInto, { makeParents: true });
}

/** The file that a move replaces. */
interface ReplacedTarget {
  readonly hash: string;
  readonly mode: number;
}

/** Checks the file that a move replaces, and saves its content. Returns null if there is no such file. */
async function prepareReplacement(
  from: FoundEntry,
  to: HeldEntry,
  { destination, overwrite }: Pick<RequestedMove, 'destination' | 'overwrite'>,
  context: ToolContext,
): Promise<ReplacedTarget | null> {
  if (to.stats === undefined) return null;
  const shown = displayPath(destination, context.cwd);
  if (!to.stats.isFile() || !from.stats.isFile()) {
    const hint = to.stats.isDirectory()
      ? ': destination is the full new path, including the name'
      : '';
    const message = `${shown} exists already and is ${describeFileType(to.stats)}${hint}`;
    throw new MusterError('CONFLICT', message);
  }
  if (!overwrite) {
    const message = `${shown} exists already: set overwrite to replace it, or take another name`;
    throw new MusterError('CONFLICT', message);
  }
  const hash = await withFile(destination, context, (file) =>
    fileFingerprint(file, context.signal),
  );
  const { real, root, stats } = to;
  requireRead(destination, { real, hash }, context);
  await savePreviousContent({ real, root, hash }, context);
  return { hash, mode: permissionBits(stats) };
}

interface ReadyMove {
  readonly tree: readonly TreeEntry[];
  readonly before: ReplacedTarget | null;
}

async function renameTree(
  from: FoundEntry,
  to: HeldEntry,
  { tree, before }: ReadyMove,
  context: ToolContext,
): Promise<ToolOutput> {
  context.signal.throwIfAborted();
  const moved = tree.map((entry) => ({ ...entry, to: join(to.real, entry.path) }));
  for (const { real, hash, to: path } of moved) {
    if (hash === null) continue;
    context.files.willWrite(path, hash);
    context.files.willRemove(real);
  }
  const found = readEntryStats(from.directory, from.name);
  if (found === undefined || !isSameFile(found, from.stats)) throw changedError(from.real);
  requireExpected(to.real, to.directory.at(to.name), to.stats ?? 'nothing');
  renameWithin(from, to);
  await syncDirectory(to.directory.at('.'));
  await syncDirectory(from.directory.at('.'));
  for (const { real, hash, to: path } of moved) {
    if (hash !== null && context.files.seen(real) === hash) context.files.remember(path, hash);
  }
  const replaced = before === null ? { before } : { before: before.hash, mode: before.mode };
  const changes = moved.flatMap(({ real, hash, stats, to: path }): FileChange[] => {
    if (hash === null) return [];
    // The change of the new path comes first: whether the task has read the new path follows from the record of the old
    // path, which the second change ends.
    return [
      { path, ...replaced, after: hash, movedFrom: real },
      { path: real, before: hash, after: null, mode: permissionBits(stats) },
    ];
  });
  const [shownFrom, shownTo] = [from.real, to.real].map((path) => displayPath(path, context.cwd));
  const replacement = before === null ? '' : ', replacing the file that was there';
  const text = `Moved ${describeFileTree(tree)} ${shownFrom} to ${shownTo}${replacement}.`;
  return { text, facts: { changed: changes } };
}

function renameWithin(from: HeldEntry, to: HeldEntry): void {
  try {
    changeAsMuster([from.real, to.real], () =>
      renameSync(from.directory.at(from.name), to.directory.at(to.name)),
    );
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EXDEV') throw thrown;
    const message = `${to.real} is on another file system than ${from.real}: use Bash (mv)`;
    throw new MusterError('INVALID_PARAM', message, { cause: thrown });
  }
}

function changedError(path: string): MusterError {
  const message = `${path} was changed by somebody else just now; nothing was moved`;
  return new MusterError('CONFLICT', message, { retryable: true });
}
