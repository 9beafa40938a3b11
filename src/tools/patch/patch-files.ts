import { MusterError, errorInfo } from '../../base/errors.ts';
import { NO_ACCESS, type Access } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type { FileChange, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { displayPath, toAbsolutePath } from '../../sys/files/paths.ts';
import { readFullFile, type FullFile } from '../../sys/files/read-file.ts';
import { requireNotStale, writeChange, type WrittenChange } from '../shared/change-file.ts';
import { defineTool } from '../shared/define-tool.ts';
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

const tool = defineTool({
  name: 'PatchFiles',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Change, add, move and delete files by a patch: *** Begin Patch, parts such as *** Update File: PATH with changes of kept (space), removed (-) and added (+) lines below @@, and *** End Patch. Give three kept lines around a change. If a part does not fit, nothing is changed.',
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
  const removes = parts.some((part) => part.kind === 'delete' || movedPaths(part).length > 0);
  const absolute = (paths: readonly string[]): string[] => [
    ...new Set(paths.map((path) => toAbsolutePath(path, cwd))),
  ];
  return {
    ...NO_ACCESS,
    reads: absolute(old),
    writes: absolute(written),
    ...(removes ? { removesFiles: true } : {}),
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
  readonly decoded: DecodedFile;
  /** Whether the task has read the file in this version. */
  readonly isKnown: boolean;
}

async function applyPatch(parts: readonly FilePatch[], context: ToolContext): Promise<ToolOutput> {
  const shown = (path: string): string =>
    displayPath(toAbsolutePath(path, context.cwd), context.cwd);
  const named = parts.map((part) => ({
    ...part,
    path: shown(part.path),
    ...(part.kind === 'update' && part.moveTo !== undefined ? { moveTo: shown(part.moveTo) } : {}),
  }));
  const paths = new Set(named.flatMap((part) => [part.path, ...movedPaths(part)]));
  const files = new Map<string, ExistingFile>();
  for (const path of paths) {
    const file = await readExisting(path, context);
    if (file !== null) files.set(path, file);
  }
  const texts = new Map<string, FileText>([...files].map(([path, { decoded }]) => [path, decoded]));
  const plan = planPatch(named, texts);
  if (!plan.ok) return failure('INVALID_PARAM', `${plan.problem}. Nothing was changed.`);
  // All texts are encoded before the first file is written, since a text may not be encodable.
  const changes = plan.files.map((file) => ({ ...file, bytes: encodeFile(file, files) }));
  const changed: FileChange[] = [];
  const notes: string[] = [];
  try {
    // Files are removed last, so that a move that fails in between loses nothing.
    for (const file of changes.filter(({ text }) => text !== null)) {
      const { change, lost } = await writeFile(file, files, context);
      changed.push(change);
      if (lost !== '') notes.push(`${file.path}:${lost}`);
    }
    for (const { path } of changes.filter(({ text }) => text === null)) {
      const absolute = toAbsolutePath(path, context.cwd);
      const { facts } = await deletePath(absolute, { recursive: false }, context);
      changed.push(...(facts?.changed ?? []));
    }
  } catch (thrown) {
    if (changed.length === 0) throw thrown;
    const { code, message } = context.signal.aborted
      ? new MusterError('CANCELLED', 'The patch was cancelled')
      : errorInfo(thrown);
    const done = changed.map(({ path }) => displayPath(path, context.cwd)).join(', ');
    return failure(code, `${message}. Changed before that: ${done}.`, { changed });
  }
  return { text: [...plan.summary, ...notes].join('\n'), facts: { changed } };
}

/**
 * Reads a file that the patch names. It need not have been read before, because the kept and removed lines of the patch
 * show that its author knows them; but a version that another task has written must have been read.
 *
 * @returns null if there is no such file
 */
async function readExisting(shown: string, context: ToolContext): Promise<ExistingFile | null> {
  const path = toAbsolutePath(shown, context.cwd);
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    const full = await readFullFile(path, context, options);
    const { real } = full.file;
    requireNotStale(path, { real, hash: full.hash }, context);
    const isKnown = context.files.seen(real) === full.hash;
    return { full, decoded: decodeForEdit(shown, full.bytes), isKnown };
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return null;
    throw thrown;
  }
}

function encodeFile(
  { path, text, encodedLike }: PatchedFile,
  files: ReadonlyMap<string, ExistingFile>,
): Buffer {
  const like = files.get(encodedLike)?.decoded;
  if (text === null) return Buffer.alloc(0);
  return like === undefined ? encodeText(path, text, 'UTF-8') : encodeLikeFile(path, text, like);
}

async function writeFile(
  { path, text, bytes, encodedLike }: PatchedFile & { readonly bytes: Buffer },
  files: ReadonlyMap<string, ExistingFile>,
  context: ToolContext,
): Promise<WrittenChange> {
  const before = files.get(path);
  const source = files.get(encodedLike);
  const content = {
    text: text ?? '',
    previous: source?.decoded.text ?? '',
    bytes,
    // The task has seen only the lines that the patch quotes.
    ...(source !== undefined && !source.isKnown ? { isUnread: true as const } : {}),
  };
  return await writeChange(
    toAbsolutePath(path, context.cwd),
    before?.full ?? 'nothing',
    content,
    context,
  );
}
