import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { nearNames } from '../../base/near-names.ts';
import { byteLength, plural } from '../../base/text.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { sha256 } from '../../sys/read-file.ts';
import { applyEdit } from '../edit/apply-edit.ts';
import { withLineEnd } from '../shared/file-text.ts';
import { cutAt, fitLines } from '../shared/output.ts';
import { changeNote, type Decide } from './change-note.ts';
import { INDEX_NAME } from './index-file.ts';
import { DIRECTORY_BYTES } from './memory-limits.ts';
import { noteName, requireFree } from './note-names.ts';
import { memoryOf, placeName, type NoteCall } from './note-call.ts';
import { listNotes, readIndex, readNote } from './notes.ts';

/** For what is said beside the lines. */
const REMARK_BYTES = 300;
const MOST_OTHERS = 5;

const NOTHING = { text: '', mark: '', lineEnd: '\n' } as const;

interface ScopeInput {
  readonly scope?: string | undefined;
}
interface FileInput extends ScopeInput {
  readonly file: string;
}

export function listMemory({ scope }: ScopeInput, context: ToolContext): ToolOutput {
  const place = memoryOf(context).place('MemoryList', scope);
  const listing = listNotes(place);
  const { notes, others, bytes } = listing;
  const head = `${placeName(place)}, ${place.directory}: ${plural(notes.length, 'note')}, ${bytes} of ${DIRECTORY_BYTES} bytes.`;
  if (notes.length + others.length === 0 && !listing.hasIndex)
    return { text: `${head} Nothing is there yet.` };
  const room = context.caps.resultBytes - byteLength(head) - REMARK_BYTES;
  const { lines, left } = fitLines(readIndex(place, listing).text.trimEnd().split('\n'), room);
  const rest =
    left === 0
      ? []
      : [
          `[${plural(left, 'more line')}: MemoryRead ${INDEX_NAME} from offset ${lines.length + 1}]`,
        ];
  const named = others.slice(0, MOST_OTHERS).map((name) => JSON.stringify(name.slice(0, 40)));
  const odd =
    others.length === 0
      ? []
      : [
          `[No notes, by their names or kinds: ${named.join(', ')}${others.length > MOST_OTHERS ? ', …' : ''}]`,
        ];
  return { text: [head, `${INDEX_NAME}:`, ...lines, ...rest, ...odd].join('\n') };
}

export function readMemory(
  { file, scope, offset = 1 }: FileInput & { readonly offset?: number | undefined },
  context: ToolContext,
): ToolOutput {
  const call = noteCall('MemoryRead', { file, scope }, context);
  const { place, name } = call;
  const listing = listNotes(place);
  requireFree(name, listing);
  if (name !== INDEX_NAME && !listing.notes.some((note) => note.name === name))
    throw notThere(call);
  const index = name === INDEX_NAME ? readIndex(place, listing) : null;
  const stored = index === null ? readNote(place, name, DIRECTORY_BYTES) : index.stored;
  const text = index?.text ?? stored?.bytes.toString('utf8') ?? '';
  const body = part(text, offset, context.caps.resultBytes - REMARK_BYTES);
  if (stored === null) return { text: body };
  if (BigInt(stored.bytes.length) < stored.stats.size) {
    return { text: `${body}\n[Only its first ${DIRECTORY_BYTES} bytes are looked at]` };
  }
  const seen = { path: join(place.directory, name), hash: sha256(stored.bytes) };
  context.files.remember(seen.path, seen.hash);
  return { text: body, facts: { read: [seen] } };
}

/** As many lines from `first` on as have room, and how to go on. */
function part(text: string, first: number, room: number): string {
  if (text === '') return '[It is empty]';
  const all = text.split('\n');
  const wanted = all.slice(first - 1);
  if (wanted.length === 0) return `[It has ${plural(all.length, 'line')}]`;
  const { lines, left } = fitLines(wanted, room);
  if (left === 0) return lines.join('\n');
  const next = `offset ${first + Math.max(lines.length, 1)}`;
  if (lines.length > 0)
    return `${lines.join('\n')}\n[${plural(left, 'more line')}: go on with ${next}]`;
  return `${cutAt(wanted[0] ?? '', room)}\n[Line ${first} is cut; go on with ${next}]`;
}

export async function writeMemory(
  { file, text, scope }: FileInput & { readonly text: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = noteCall('MemoryWrite', { file, scope }, context);
  return await changed('Wrote', call, (before) => {
    requireKnown(before);
    return text;
  });
}

export async function appendMemory(
  { file, text, scope }: FileInput & { readonly text: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = noteCall('MemoryAppend', { file, scope }, context);
  return await changed('Added to', call, (before) => {
    const { text: had, mark, lineEnd } = before ?? NOTHING;
    const join = had === '' || had.endsWith('\n') ? '' : lineEnd;
    const end = text.endsWith('\n') ? '' : '\n';
    return `${mark}${had}${join}${withLineEnd(`${text}${end}`, lineEnd)}`;
  });
}

/** One replacement of an exact text that stands there once: whatever else has changed, nothing of it is lost. */
export async function patchMemory(
  input: FileInput & { readonly old: string; readonly new: string },
  context: ToolContext,
): Promise<ToolOutput> {
  const call = noteCall('MemoryPatch', input, context);
  const edit = { old_string: input.old, new_string: input.new };
  return await changed('Changed', call, (before) => {
    if (before === null) throw notThere(call);
    const result = applyEdit(before.text, edit, before.lineEnd);
    if (result.ok) return before.mark + result.text;
    const problem = inOurWords(result.problem);
    throw new MusterError('INVALID_PARAM', `${call.name}: ${problem} Nothing was changed.`);
  });
}

/** What is wrong with an edit is told by the names that Edit has for its arguments. */
function inOurWords(problem: string): string {
  return problem
    .replace(', or set replace_all', '')
    .replace('to make or fill a file use Write', 'to fill a note use MemoryWrite')
    .replace(/^old_string/, 'old')
    .replace('and new_string', 'and new')
    .replace('as Read shows it, after the tab', 'as MemoryRead shows it');
}

export async function deleteMemory(input: FileInput, context: ToolContext): Promise<ToolOutput> {
  const call = noteCall('MemoryDelete', input, context);
  if (call.name === INDEX_NAME) {
    throw new MusterError(
      'INVALID_PARAM',
      `${INDEX_NAME} is the index, and stays: change it with MemoryPatch`,
    );
  }
  return await changed('Deleted', call, (before) => {
    if (before === null) throw notThere(call);
    requireKnown(before);
    return null;
  });
}

async function changed(done: string, call: NoteCall, decide: Decide): Promise<ToolOutput> {
  const { changes, indexProblem } = await changeNote(call, decide);
  const text = `${done} ${call.name} in ${placeName(call.place)}.`;
  const more = indexProblem === null ? '' : ` ${INDEX_NAME} is not true yet: ${indexProblem}.`;
  return { text: text + more, facts: { changed: changes } };
}

function requireKnown(before: { readonly unknown: string | null } | null): void {
  const unknown = before?.unknown ?? null;
  if (unknown !== null) throw new MusterError('CONFLICT', `${unknown} Nothing was changed.`);
}

function noteCall(tool: string, { file, scope }: FileInput, context: ToolContext): NoteCall {
  return { place: memoryOf(context).place(tool, scope), name: noteName(file), context };
}

function notThere({ place, name }: NoteCall): MusterError {
  const near = nearNames(
    name,
    listNotes(place).notes.map((note) => note.name),
  );
  const hint = near.length === 0 ? 'see MemoryList' : `did you mean ${near.join(', ')}?`;
  return new MusterError('NOT_FOUND', `there is no ${name} in ${placeName(place)}: ${hint}`);
}
