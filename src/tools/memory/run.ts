import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { byteLength, plural } from '../../base/text.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { applyEdit } from '../edit/apply-edit.ts';
import { convertLineEnds } from '../shared/file-text.ts';
import { cutToBytes, fitLines } from '../shared/output.ts';
import { changeNote, type EditNote, type NoteBefore } from './change-note.ts';
import {
  INDEX_NAME,
  parseNoteName,
  requireFreeName,
  DIRECTORY_BYTES,
  requireMemory,
  describeMemory,
  type NoteCall,
  listNotes,
  readIndex,
  readNoteFile,
} from './notes.ts';

/** The number of bytes that are reserved for remarks after the lines. */
const REMARK_BYTES = 300;
const MAX_NAMED_OTHERS = 5;

const EMPTY_NOTE = { text: '', mark: '', lineEnd: '\n' } as const;

interface ScopeInput {
  readonly scope?: string | undefined;
}
interface FileInput extends ScopeInput {
  readonly file: string;
}

/** Shows the index of a memory, with its size and the entries that are not notes. */
export function listMemoryNotes({ scope }: ScopeInput, context: ToolContext): ToolOutput {
  const location = requireMemory(context).locate('MemoryList', scope);
  const listing = listNotes(location);
  const { notes, others, bytes } = listing;
  const head = `${describeMemory(location)}, ${location.directory}: ${plural(notes.length, 'note')}, ${bytes} of ${DIRECTORY_BYTES} bytes.`;
  if (notes.length + others.length === 0 && !listing.hasIndex)
    return { text: `${head} Nothing is there yet.` };
  const room = context.caps.resultBytes - byteLength(head) - REMARK_BYTES;
  const { lines, remaining } = fitLines(
    readIndex(location, listing).text.trimEnd().split('\n'),
    room,
  );
  const omittedNotes =
    remaining === 0
      ? []
      : [
          `[${plural(remaining, 'more line')}: MemoryRead ${INDEX_NAME} from offset ${lines.length + 1}]`,
        ];
  const named = others.slice(0, MAX_NAMED_OTHERS).map((name) => JSON.stringify(name.slice(0, 40)));
  const otherNotes =
    others.length === 0
      ? []
      : [
          `[These are not notes, because of their names or kinds: ${named.join(', ')}${others.length > MAX_NAMED_OTHERS ? ', …' : ''}]`,
        ];
  return { text: [head, `${INDEX_NAME}:`, ...lines, ...omittedNotes, ...otherNotes].join('\n') };
}

/** Shows the lines of a note from `offset` on, and records that the task has read the note. */
export function readMemoryNote(
  { file, scope, offset = 1 }: FileInput & { readonly offset?: number | undefined },
  context: ToolContext,
): ToolOutput {
  const call = createNoteCall('MemoryRead', { file, scope }, context);
  const { location, name } = call;
  const listing = listNotes(location);
  requireFreeName(name, listing);
  if (name !== INDEX_NAME && !listing.notes.some((note) => note.name === name))
    throw createNotFoundError(call);
  const index = name === INDEX_NAME ? readIndex(location, listing) : null;
  const stored = index === null ? readNoteFile(location, name, DIRECTORY_BYTES) : index.stored;
  const text = index?.text ?? stored?.bytes.toString('utf8') ?? '';
  const body = linesFrom(text, offset, context.caps.resultBytes - REMARK_BYTES);
  if (stored === null) return { text: body };
  if (BigInt(stored.bytes.length) < stored.stats.size) {
    return { text: `${body}\n[Only its first ${DIRECTORY_BYTES} bytes are looked at]` };
  }
  const seen = { path: join(location.directory, name), hash: hashContent(stored.bytes) };
  context.files.remember(seen.path, seen.hash);
  return { text: body, facts: { read: [seen] } };
}

/** Returns the lines from `first` on that fit into `room` bytes, and a remark that says how to read more. */
function linesFrom(text: string, first: number, room: number): string {
  if (text === '') return '[It is empty]';
  const all = text.split('\n');
  const wanted = all.slice(first - 1);
  if (wanted.length === 0) return `[It has ${plural(all.length, 'line')}]`;
  const { lines, remaining } = fitLines(wanted, room);
  if (remaining === 0) return lines.join('\n');
  const next = `offset ${first + Math.max(lines.length, 1)}`;
  if (lines.length > 0)
    return `${lines.join('\n')}\n[${plural(remaining, 'more line')}: go on with ${next}]`;
  return `${cutToBytes(wanted[0] ?? '', room)}\n[Line ${first} is cut; go on with ${next}]`;
}

/** Creates a note, or replaces a note that this task has read. */
export async function writeMemoryNote(
  { file, text, scope }: FileInput & { readonly text: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = createNoteCall('MemoryWrite', { file, scope }, context);
  return await runChange('Wrote', call, (before) => {
    requireNoteRead(before);
    return text;
  });
}

/** Appends text to a note, or creates the note. The task need not have read the note before. */
export async function appendMemoryNote(
  { file, text, scope }: FileInput & { readonly text: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = createNoteCall('MemoryAppend', { file, scope }, context);
  return await runChange('Added to', call, (before) => {
    const { text: had, mark, lineEnd } = before ?? EMPTY_NOTE;
    const join = had === '' || had.endsWith('\n') ? '' : lineEnd;
    const end = text.endsWith('\n') ? '' : '\n';
    return `${mark}${had}${join}${convertLineEnds(`${text}${end}`, lineEnd)}`;
  });
}

/**
 * Replaces an exact text that occurs once. The task need not have read the note before, because all other text is kept.
 */
export async function patchMemoryNote(
  input: FileInput & { readonly old: string; readonly new: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = createNoteCall('MemoryPatch', input, context);
  const edit = { old_string: input.old, new_string: input.new };
  return await runChange('Changed', call, (before) => {
    if (before === null) throw createNotFoundError(call);
    const result = applyEdit(before.text, edit, before.lineEnd);
    if (result.ok) return before.mark + result.text;
    const problem = renameArguments(result.problem);
    throw new MusterError('INVALID_PARAM', `${call.name}: ${problem} Nothing was changed.`);
  });
}

/** Replaces the argument names of Edit in a message by the argument names of MemoryPatch. */
function renameArguments(problem: string): string {
  return problem
    .replace(', or set replace_all', '')
    .replace('To replace the whole file use Write', 'To replace the whole note use MemoryWrite')
    .replace(/^old_string/, 'old')
    .replaceAll('new_string', 'new');
}

/** Deletes a note that this task has read. */
export async function deleteMemoryNote(note: FileInput, context: ToolContext): Promise<ToolOutput> {
  const call = createNoteCall('MemoryDelete', note, context);
  if (call.name === INDEX_NAME) {
    const message = `${INDEX_NAME} is the index and cannot be deleted: change it with MemoryPatch`;
    throw new MusterError('INVALID_PARAM', message);
  }
  return await runChange('Deleted', call, (before) => {
    if (before === null) throw createNotFoundError(call);
    requireNoteRead(before);
    return null;
  });
}

async function runChange(done: string, call: NoteCall, decide: EditNote): Promise<ToolOutput> {
  const { changes, indexProblem } = await changeNote(call, decide);
  const text = `${done} ${call.name} in ${describeMemory(call.location)}.`;
  const more =
    indexProblem === null ? '' : ` ${INDEX_NAME} is not up to date yet: ${indexProblem}.`;
  return { text: text + more, facts: { changed: changes } };
}

function requireNoteRead(before: Pick<NoteBefore, 'unreadReason'> | null): void {
  const reason = before?.unreadReason ?? null;
  if (reason !== null) throw new MusterError('CONFLICT', `${reason} Nothing was changed.`);
}

function createNoteCall(tool: string, { file, scope }: FileInput, context: ToolContext): NoteCall {
  return {
    location: requireMemory(context).locate(tool, scope),
    name: parseNoteName(file),
    context,
  };
}

function createNotFoundError({ location, name }: NoteCall): MusterError {
  const near = suggestNames(
    name,
    listNotes(location).notes.map((note) => note.name),
  );
  const hint = near.length === 0 ? 'see MemoryList' : `did you mean ${near.join(', ')}?`;
  return new MusterError(
    'NOT_FOUND',
    `there is no ${name} in ${describeMemory(location)}: ${hint}`,
  );
}
