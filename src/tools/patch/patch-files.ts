import { MusterError, errorInfo } from '../../base/errors.ts';
import { NO_ACCESS, type Access } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type { FileChange, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { displayPath, toAbsolutePath } from '../../sys/files/paths.ts';
import { requirePathInRoots } from '../../sys/files/open-in-roots.ts';
import type { FullFile } from '../../sys/files/read-file.ts';
import { readWithUnsaved } from '../shared/editor-text.ts';
import {
  permissionBits,
  refuseRedactionMark,
  requireNotRemoved,
  requireNotStale,
  writeChange,
  type NewContent,
} from '../shared/change-file.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import {
  MAX_EDIT_BYTES,
  decodeForEdit,
  encodeLikeFile,
  type DecodedFile,
} from '../shared/file-text.ts';
import { failure } from '../shared/output.ts';
import { encodeText } from '../shared/text-encoding.ts';
import { deletePath } from '../utility/files/delete-file.ts';
import { PATCH_GRAMMAR, parsePatch, type FilePatch } from '../../protocol/patch.ts';
import { planPatch, type FileText, type PatchedFile } from './plan-patch.ts';

const tool = defineBuiltinTool({
  name: 'PatchFiles',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Change, add, move and delete files with *** Begin Patch, parts such as *** Update File: PATH with changes of kept (space), removed (-) and added (+) lines below @@, and *** End Patch. Give three kept lines around a change. If a part does not fit, nothing is changed.',
  grammar: PATCH_GRAMMAR,
  input: {
    type: 'object',
    properties: { patch: { type: 'string', minLength: 1 } },
    required: ['patch'],
    ignored: ['workdir'],
  },
  aliases: { input: 'patch', patchText: 'patch', diff: 'patch', command: 'patch' },
  describe: ({ patch }, { cwd }) => describeAccess(readParts(patch), cwd),
  proposes: ({ patch }, { cwd }) => readParts(patch).flatMap((part) => proposeEdits(part, cwd)),
  run: ({ patch }, context) => applyPatch(readParts(patch), context),
});

/** Applies a patch in the format of OpenAI's `apply_patch`, as models of that family are trained to write it. */
export const patchFilesTool: typeof tool = {
  ...tool,
  parse(input) {
    const parsed = tool.parse(input);
    if (!parsed.ok) return parsed;
    const patch = parsePatch(parsed.input.patch);
    if (patch.ok) return parsed;
    return { ok: false, issues: [`line ${patch.line} of the patch: ${patch.problem}`] };
  },
};

/** Returns the parts of a patch that `parse` has accepted. */
function readParts(patch: string): readonly FilePatch[] {
  const parsed = parsePatch(patch);
  return parsed.ok ? parsed.files : [];
}

function describeAccess(parts: readonly FilePatch[], cwd: string): Access {
  const old = parts.filter(({ kind }) => kind !== 'add').map(({ path }) => path);
  const written = parts.flatMap((part) => [part.path, ...movedPaths(part)]);
  const alsoNeeds = [
    ...(parts.some(({ kind }) => kind === 'delete') ? ['DeleteFile'] : []),
    ...(parts.some((part) => movedPaths(part).length > 0) ? ['MoveFile'] : []),
  ];
  const absolute = (paths: readonly string[]): string[] => [
    ...new Set(paths.map((path) => toAbsolutePath(path, cwd))),
  ];
  return {
    ...NO_ACCESS,
    reads: absolute(old),
    writes: absolute(written),
    ...(alsoNeeds.length > 0 ? { alsoNeeds } : {}),
  };
}

function movedPaths(part: FilePatch): readonly string[] {
  return part.kind === 'update' && part.moveTo !== undefined ? [part.moveTo] : [];
}

/** Describes the changes of one part. The files have not been read yet, so words in brackets stand for their content. */
function proposeEdits(part: FilePatch, cwd: string): readonly ProposedEdit[] {
  const path = toAbsolutePath(part.path, cwd);
  const everywhere = false;
  switch (part.kind) {
    case 'add':
      return [{ path, before: null, after: part.content, everywhere }];
    case 'delete':
      return [{ path, before: '[the whole file]', after: '', everywhere }];
    case 'update': {
      const moves = movedPaths(part).map((to) => ({
        path,
        before: '[this path]',
        after: `[moved to ${displayPath(toAbsolutePath(to, cwd), cwd)}]`,
        everywhere,
      }));
      const changes = part.chunks.map(({ lines }) => {
        const joined = (without: string): string =>
          lines.flatMap(({ kind, text }) => (kind === without ? [] : `${text}\n`)).join('');
        return { path, before: joined('add'), after: joined('remove'), everywhere };
      });
      return [...moves, ...changes];
    }
  }
}

/** A file that the patch names, as it is before the patch. */
interface ExistingFile {
  readonly full: FullFile;
  /** The text of the file; null if it is binary, so that the patch can only delete it. */
  readonly decoded: DecodedFile | null;
  /** Whether the task has read the file in this version. */
  readonly isKnown: boolean;
}

/** The files that the patch names and that exist, by absolute path. */
type ExistingFiles = ReadonlyMap<string, ExistingFile>;

async function applyPatch(parts: readonly FilePatch[], context: ToolContext): Promise<ToolOutput> {
  const { cwd } = context;
  const show = (path: string): string => displayPath(path, cwd);
  const resolved = parts.map((part) => resolvePaths(part, cwd));
  const files = await readFiles(resolved, context);
  const texts = new Map([...files].map(([path, file]) => [path, toFileText(file)]));
  const plan = planPatch(resolved, texts, show);
  if (!plan.ok) return failure('INVALID_PARAM', `${plan.problem}. Nothing was changed.`);
  // Whatever can be refused is refused before the first file is written.
  const changes = plan.files.map((file) => ({ ...file, content: createContent(file, files) }));
  for (const { path, content } of changes) refuseRedactionMark(path, content, context);
  const changed: FileChange[] = [];
  const notes: string[] = [];
  try {
    // Files are removed last, so that a move that fails in between loses nothing.
    for (const { path, content } of changes.filter(({ text }) => text !== null)) {
      const before = files.get(path)?.full ?? 'nothing';
      const { change, lost } = await writeChange(path, before, content, context);
      changed.push(change);
      if (lost !== '') notes.push(`${show(path)}:${lost}`);
    }
    for (const { path } of changes.filter(({ text }) => text === null)) {
      const { facts } = await deletePath(path, { recursive: false }, context);
      changed.push(...(facts?.changed ?? []));
    }
  } catch (thrown) {
    if (changed.length === 0) throw thrown;
    const { code, message } = context.signal.aborted
      ? new MusterError('CANCELLED', 'The patch was cancelled')
      : errorInfo(thrown);
    const done = changed.map(({ path }) => show(path)).join(', ');
    const sentence = message.replace(/\.$/, '');
    return failure(code, `${sentence}. Changed before that: ${done}.`, { changed });
  }
  return { text: [...plan.summary, ...notes].join('\n'), facts: { changed } };
}

/** Makes the paths of a part absolute. */
function resolvePaths(part: FilePatch, cwd: string): FilePatch {
  const path = toAbsolutePath(part.path, cwd);
  return part.kind === 'update' && part.moveTo !== undefined
    ? { ...part, path, moveTo: toAbsolutePath(part.moveTo, cwd) }
    : { ...part, path };
}

/** Reads the files that a patch names. Throws if two of its paths lead to the same file. */
async function readFiles(
  parts: readonly FilePatch[],
  context: ToolContext,
): Promise<ExistingFiles> {
  const edited = new Set(parts.flatMap(({ kind, path }) => (kind === 'update' ? [path] : [])));
  const paths = new Set(parts.flatMap((part) => [part.path, ...movedPaths(part)]));
  const files = new Map<string, ExistingFile>();
  const pathsOfFiles = new Map<string, string>();
  for (const path of paths) {
    const { real } = requirePathInRoots(path, context, { mayBeMissing: true });
    const other = pathsOfFiles.get(real);
    if (other !== undefined) {
      const [first, second] = [other, path].map((each) => displayPath(each, context.cwd));
      const message = `${first} and ${second} are the same file: give all its changes under one path. Nothing was changed.`;
      throw new MusterError('INVALID_PARAM', message);
    }
    pathsOfFiles.set(real, path);
    const file = await readExisting(path, { mustBeText: edited.has(path) }, context);
    if (file === null) requireNotRemoved(path, context);
    else files.set(path, file);
  }
  return files;
}

/**
 * Reads a file that the patch names. It need not have been read before, because the kept and removed lines of the patch
 * show that its author knows them; but a version that another task has written must have been read.
 *
 * @returns null if there is no such file
 */
async function readExisting(
  path: string,
  { mustBeText }: { readonly mustBeText: boolean },
  context: ToolContext,
): Promise<ExistingFile | null> {
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    const full = await readWithUnsaved(path, context, options);
    const { real } = full.file;
    requireNotStale(path, { real, hash: full.hash }, context);
    const isKnown = context.files.seen(real) === full.hash;
    return { full, decoded: decode(path, full, { mustBeText }, context), isKnown };
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}

function decode(
  path: string,
  { bytes }: FullFile,
  { mustBeText }: { readonly mustBeText: boolean },
  { cwd }: ToolContext,
): DecodedFile | null {
  try {
    return decodeForEdit(displayPath(path, cwd), bytes);
  } catch (thrown) {
    if (mustBeText || !(thrown instanceof MusterError)) throw thrown;
    return null;
  }
}

function toFileText({ full, decoded }: ExistingFile): FileText {
  return decoded ?? { text: full.bytes.toString('latin1'), lineEnd: '\n' };
}

function createContent({ path, text, encodedLike }: PatchedFile, files: ExistingFiles): NewContent {
  if (text === null) return { text: '', previous: '', bytes: Buffer.alloc(0) };
  const source = files.get(encodedLike);
  const like = source?.decoded ?? null;
  const isMoved = encodedLike !== path && !files.has(path);
  return {
    text,
    previous: like?.text ?? '',
    bytes: like === null ? encodeText(path, text, 'UTF-8') : encodeLikeFile(path, text, like),
    // The task has seen only the lines that the patch quotes.
    ...(source !== undefined && !source.isKnown ? { isUnread: true as const } : {}),
    ...(source !== undefined && isMoved ? { mode: permissionBits(source.full.file.stats) } : {}),
  };
}
