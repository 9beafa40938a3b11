/** The grammar of patches, in the syntax of Lark, as it is published with Codex (codex-rs/apply-patch). */
export const PATCH_GRAMMAR = String.raw`start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`;

/** A line of a change. */
export interface PatchLine {
  readonly kind: 'keep' | 'remove' | 'add';
  readonly text: string;
}

/** Consecutive lines of a file that a patch changes. */
export interface PatchChunk {
  /** Lines above the change, in the order in which the file has them. */
  readonly above: readonly string[];
  readonly lines: readonly PatchLine[];
  /** Whether the change is at the end of the file. */
  readonly isAtEnd: boolean;
  /** The number, from 1, of the chunk's first line in the patch. */
  readonly line: number;
}

/** The part of a patch that is about one file. The paths are as written in the patch; `line` is the number of the heading. */
export type FilePatch = { readonly path: string; readonly line: number } & (
  | { readonly kind: 'add'; readonly content: string }
  | { readonly kind: 'delete' }
  | { readonly kind: 'update'; readonly moveTo?: string; readonly chunks: readonly PatchChunk[] }
);

/** The parts of a patch in their order, or the first problem and the number, from 1, of its line. */
export type ParsedPatch =
  | { readonly ok: true; readonly files: readonly FilePatch[] }
  | { readonly ok: false; readonly line: number; readonly problem: string };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';
const FILE_HEADING = /^\*\*\* (Add|Delete|Update) File: (.*\S)\s*$/;
const MOVE_HEADING = /^\*\*\* Move to: (.*\S)\s*$/;
/** A line above a change, or an empty marker between two changes. */
const CHUNK_HEADING = /^@@(?: (.*))?$/;
const LINE_KINDS: Readonly<Record<string, PatchLine['kind']>> = {
  '+': 'add',
  '-': 'remove',
  ' ': 'keep',
};

/**
 * Reads a patch in the format of OpenAI's `apply_patch`, whose grammar is published with Codex and in OpenAI's guide for
 * prompting GPT-4.1:
 *
 * ```
 * *** Begin Patch
 * *** Add File: PATH            followed by the lines of the file, each with +
 * *** Delete File: PATH
 * *** Update File: PATH         followed by changes
 * *** Move to: PATH             optional, after the heading of an update
 * @@ LINE                       optional: a line above the change; can be repeated; LINE can be absent
 *  kept, -removed and +added lines
 * *** End of File               optional: the change is at the end of the file
 * *** End Patch
 * ```
 *
 * Text before the first and after the last marker, such as a here-document around the patch, is ignored. An empty line
 * within an update is an empty kept line. A patch without its last marker is refused, because its end may be missing.
 */
export function parsePatch(text: string): ParsedPatch {
  const lines = text.split(/\r?\n/);
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin === -1) return { ok: false, line: 1, problem: `the patch has no line "${BEGIN}"` };
  const end = lines.findLastIndex((line, index) => index > begin && line.trim() === END);
  if (end === -1) {
    return { ok: false, line: lines.length, problem: `the patch does not end with "${END}"` };
  }
  const files: OpenFilePatch[] = [];
  for (let index = begin + 1; index < end; index += 1) {
    const problem = addLine(files, lines[index] ?? '', index + 1) ?? null;
    if (problem !== null) return { ok: false, line: index + 1, problem };
  }
  if (files.length === 0)
    return { ok: false, line: begin + 2, problem: 'the patch changes no file' };
  for (const file of files) {
    const incomplete = findIncompletePart(file);
    if (incomplete !== undefined) return { ok: false, ...incomplete };
  }
  return { ok: true, files: files.map(finishFilePatch) };
}

/** A part of a patch that is being read. */
interface OpenFilePatch {
  readonly kind: 'add' | 'delete' | 'update';
  readonly path: string;
  readonly line: number;
  moveTo?: string;
  /** The lines of an added file. */
  readonly added: string[];
  readonly chunks: OpenChunk[];
}

interface OpenChunk {
  readonly above: string[];
  readonly lines: PatchLine[];
  isAtEnd: boolean;
  readonly line: number;
}

/** Adds a line to the last part of the patch, or begins a new part. Returns the problem if the line fits nowhere. */
function addLine(files: OpenFilePatch[], line: string, number: number): string | undefined {
  const heading = FILE_HEADING.exec(line);
  if (heading !== null) {
    files.push(openFilePatch(heading, number));
    return undefined;
  }
  const file = files.at(-1);
  if (file === undefined) return line.trim() === '' ? undefined : EXPECTED_HEADING;
  switch (file.kind) {
    case 'add':
      return addContent(file, line);
    case 'delete':
      return line.trim() === '' ? undefined : EXPECTED_HEADING;
    case 'update':
      return addChange(file, line, number);
  }
}

const EXPECTED_HEADING =
  'expected "*** Add File: PATH", "*** Update File: PATH" or "*** Delete File: PATH"';

function openFilePatch([, word, path = '']: RegExpExecArray, line: number): OpenFilePatch {
  const kind = word === 'Add' ? 'add' : word === 'Delete' ? 'delete' : 'update';
  return { kind, path, line, added: [], chunks: [] };
}

function addContent(file: OpenFilePatch, line: string): string | undefined {
  if (!line.startsWith('+')) return 'each line of an added file must begin with "+"';
  file.added.push(line.slice(1));
  return undefined;
}

function addChange(file: OpenFilePatch, line: string, number: number): string | undefined {
  const move = MOVE_HEADING.exec(line)?.[1];
  if (move !== undefined) {
    if (file.moveTo !== undefined || file.chunks.length > 0) {
      return '"*** Move to:" must follow the heading of its file';
    }
    file.moveTo = move;
    return undefined;
  }
  const last = file.chunks.at(-1);
  if (line.trimEnd() === END_OF_FILE) {
    if (last === undefined || last.lines.length === 0)
      return `"${END_OF_FILE}" must follow a change`;
    last.isAtEnd = true;
    return undefined;
  }
  const heading = CHUNK_HEADING.exec(line);
  if (heading !== null) {
    const chunk = last !== undefined && last.lines.length === 0 ? last : openChunk(file, number);
    if (heading[1] !== undefined) chunk.above.push(heading[1]);
    return undefined;
  }
  const kind = line === '' ? 'keep' : LINE_KINDS[line.charAt(0)];
  if (kind === undefined) return 'a line of a change must begin with " ", "+" or "-"';
  const chunk = last === undefined || last.isAtEnd ? openChunk(file, number) : last;
  chunk.lines.push({ kind, text: line.slice(1) });
  return undefined;
}

function openChunk(file: OpenFilePatch, line: number): OpenChunk {
  const chunk: OpenChunk = { above: [], lines: [], isAtEnd: false, line };
  file.chunks.push(chunk);
  return chunk;
}

/** Finds a part that ends before it says what to change. Kept lines alone change nothing. */
function findIncompletePart(file: OpenFilePatch): { line: number; problem: string } | undefined {
  if (file.kind !== 'update') return undefined;
  if (file.chunks.length === 0 && file.moveTo === undefined) {
    return { line: file.line, problem: 'the update has no changes' };
  }
  const empty = file.chunks.find(({ lines }) => lines.every(({ kind }) => kind === 'keep'));
  return empty === undefined
    ? undefined
    : { line: empty.line, problem: 'the change adds and removes no line' };
}

function finishFilePatch({ kind, path, line, added, chunks, moveTo }: OpenFilePatch): FilePatch {
  switch (kind) {
    case 'add':
      return { kind, path, line, content: added.map((each) => `${each}\n`).join('') };
    case 'delete':
      return { kind, path, line };
    case 'update':
      return { kind, path, line, chunks, ...(moveTo === undefined ? {} : { moveTo }) };
  }
}
