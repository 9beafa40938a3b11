import { plural } from '../../base/text.ts';
import { MusterError } from '../../base/errors.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type {
  AnyTool,
  ChangePlan,
  FileChange,
  PlanContext,
  ToolContext,
  ToolOutput,
} from '../../protocol/tool.ts';
import { displayPath, toAbsolutePath } from '../../sys/files/paths.ts';
import { readFullFile, type FullFile } from '../../sys/files/read-file.ts';
import { refuseRedactionMark, requireNotStale, writeChange } from '../shared/change-file.ts';
import { outputErrors } from '../shared/define-tool.ts';
import { MAX_EDIT_BYTES } from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';

/** A rename that a call asks for. */
interface RenameRequest {
  /** As in the call. */
  readonly path: string;
  readonly symbol: string;
  readonly line: number | null;
  readonly newName: string;
}

/** A planned rename: the files with their texts before and after it. */
interface PlannedRename {
  readonly request: RenameRequest;
  readonly files: readonly {
    readonly path: string;
    readonly before: string;
    readonly after: string;
  }[];
}

/**
 * Plans a rename: asks the language server which files it changes. The rename itself is an edit of these files, and is
 * decided as one.
 *
 * @param tool the tool of the call
 */
export async function planRenameCall(
  request: RenameRequest,
  tool: AnyTool,
  { cwd, code }: PlanContext,
): Promise<ChangePlan> {
  if (code === undefined) {
    return { ok: false, error: 'NOT_FOUND', text: 'There is no language server.' };
  }
  const { symbol, line, newName } = request;
  const path = toAbsolutePath(request.path, cwd);
  const plan = await code.planRename({ path, symbol, line, newName });
  if (!plan.ok) return { ok: false, error: plan.error, text: plan.problem };
  const paths = plan.files.map((file) => file.path);
  const input: PlannedRename = { request, files: plan.files };
  return {
    ok: true,
    input,
    access: { ...NO_ACCESS, reads: paths, writes: paths },
    tool: {
      ...tool,
      kind: 'edit',
      replay: 'checkable',
      ownWords: true,
      proposes: (planned: PlannedRename) => proposeEdits(planned),
      run: (planned: PlannedRename, context) =>
        outputErrors(tool.name, context, () => applyRename(planned, context)),
    },
  };
}

/** Lists the changed lines for the person who is asked. A rename changes no line ends. */
function proposeEdits({ files }: PlannedRename): readonly ProposedEdit[] {
  return files.flatMap(({ path, before, after }) => {
    const newLines = after.split('\n');
    return before.split('\n').flatMap((line, index) => {
      const changed = newLines[index] ?? '';
      return line === changed ? [] : [{ path, before: line, after: changed, everywhere: false }];
    });
  });
}

/** Writes the files of a rename, after all of them were checked. */
async function applyRename(
  { request, files }: PlannedRename,
  context: ToolContext,
): Promise<ToolOutput> {
  const checked: { path: string; full: FullFile; before: string; after: string }[] = [];
  for (const { path, before, after } of files) {
    const full = await readUnchanged(path, before, context);
    refuseRedactionMark(path, { text: after, previous: before }, context);
    checked.push({ path, full, before, after });
  }
  const changed: FileChange[] = [];
  try {
    for (const { path, full, before, after } of checked) {
      const isUnread = context.files.seen(full.file.real) !== full.hash;
      const content = {
        text: after,
        previous: before,
        bytes: Buffer.from(after),
        ...(isUnread ? { isUnread: true as const } : {}),
      };
      const { change } = await writeChange(path, full, content, context);
      changed.push(change);
    }
  } catch (thrown) {
    if (changed.length === 0 || !(thrown instanceof MusterError)) throw thrown;
    const done = changed.map(({ path }) => displayPath(path, context.cwd)).join(', ');
    return failure(thrown.code, `${thrown.message} Changed before that: ${done}.`, { changed });
  }
  const shown = changed.map(({ path }) => displayPath(path, context.cwd));
  const { symbol, newName } = request;
  return {
    text: `Renamed ${symbol} to ${newName} in ${plural(changed.length, 'file')}: ${shown.join(', ')}.`,
    facts: { changed },
  };
}

/** Reads a file of a rename. Throws CONFLICT if it has changed since the rename was planned. */
async function readUnchanged(
  path: string,
  before: string,
  context: ToolContext,
): Promise<FullFile> {
  const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
  const full = await readFullFile(path, context, options);
  requireNotStale(path, { real: full.file.real, hash: full.hash }, context);
  if (!full.bytes.equals(Buffer.from(before))) {
    const shown = displayPath(path, context.cwd);
    const message = `${shown} was changed while the rename was planned. Nothing was changed: try it again.`;
    throw new MusterError('CONFLICT', message);
  }
  return full;
}
