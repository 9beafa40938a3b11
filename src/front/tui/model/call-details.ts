import { formatFormValues } from '../../../protocol/form.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import {
  textDiff,
  UNLIMITED_DIFF,
  type DiffBounds,
  type DiffLine,
  type TextDiff,
} from './text-diff.ts';
import { PATCH_TOOL } from '../../../protocol/file-tools.ts';
import type { Answer, GrantScope, ProposedEdit } from '../../../protocol/question.ts';
import { listRequestedEdits, type RequestedEdit } from '../../../report/requested-edits.ts';
import { copied, textEnd, textStart } from './cut-text.ts';

/** The limits of each kept change. Only the sizes of the changes after the first `MAX_CHANGES` of a call are kept. */
const BOUNDS: DiffBounds = { lines: 120, lineLength: 500, context: 3 };
const SIZE_ONLY: DiffBounds = { ...BOUNDS, lines: 0 };
const MAX_CHANGES = 20;
/** The length of the part of a result that is searched for line numbers, in UTF-16 units. */
const MAX_SEARCHED = 20_000;

/** The limits of a change that is shown in full, with some unchanged lines of its file. */
export const FULL_DIFF: DiffBounds = { lines: 100_000, lineLength: 4_000, context: 3 };

/** Returns the text changes that a call of a tool that edits requests; an empty list for other calls. */
export function textChanges(
  tool: string,
  input: JsonValue,
  bounds: DiffBounds = BOUNDS,
): readonly TextDiff[] {
  return listRequestedEdits(tool, input).map(({ before, after }, index) =>
    textDiff(before, after, index < MAX_CHANGES ? bounds : SIZE_ONLY),
  );
}

/**
 * Returns the change that a call made in a file, of which `before` was the former content. Returns null if the requested
 * texts do not occur in the file exactly as they are written, as in a notebook.
 */
export function fileChange(
  tool: string,
  input: JsonValue,
  before: string,
  bounds: DiffBounds,
): TextDiff | null {
  const after = editedText(tool, input, before);
  return after === null ? null : { ...textDiff(withNewlines(before), after, bounds), first: 1 };
}

function editedText(tool: string, input: JsonValue, before: string): string | null {
  if (tool === PATCH_TOOL) return null;
  const edits = listRequestedEdits(tool, input);
  const [first] = edits;
  return first?.before === null ? first.after : applyEdits(edits, before);
}

/** The change that edits would make in a file, with and without the unchanged lines around it. */
export interface ProposedChange {
  readonly full: TextDiff;
  readonly brief: TextDiff;
}

/**
 * Returns the change that edits would make in a file with this content. Returns null if a text does not occur as the
 * edits need it, or if the change is very long.
 */
export function proposedChange(
  edits: readonly ProposedEdit[],
  content: string,
): ProposedChange | null {
  const before = withNewlines(content);
  const requested = edits.map(({ before: old, after, everywhere }) => {
    return { before: old ?? '', after, isEverywhere: everywhere };
  });
  const after = applyEdits(requested, before);
  if (after === null) return null;
  const diff = (context: number): TextDiff =>
    withoutOuterGaps({ ...textDiff(before, after, { ...UNLIMITED_DIFF, context }), first: 1 });
  const full = diff(BOUNDS.context);
  return full.lines.length > MAX_PROPOSED_LINES ? null : { full, brief: diff(0) };
}

/** Removes the counts of unchanged lines at the beginning and the end of a change. */
function withoutOuterGaps(diff: TextDiff): TextDiff {
  const isShown = ({ sign }: DiffLine): boolean => sign !== '…';
  const { lines } = diff;
  return {
    ...diff,
    lines: lines.slice(lines.findIndex(isShown), lines.findLastIndex(isShown) + 1),
  };
}

/** The maximum number of lines of a proposed change that is shown with the lines around it. */
const MAX_PROPOSED_LINES = 1_000;

function applyEdits(
  edits: readonly Pick<RequestedEdit, 'before' | 'after' | 'isEverywhere'>[],
  before: string,
): string | null {
  if (edits.length === 0) return null;
  let edited = before;
  for (const edit of edits) {
    const old = edit.before ?? '';
    const parts = edited.split(old);
    if (old === '' || parts.length < 2 || (parts.length > 2 && !edit.isEverywhere)) {
      return null;
    }
    edited = parts.join(edit.after);
  }
  return edited;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Adds the line numbers to changes. The result of the call names them: `1 replacement at line 12`. */
export function addLineNumbers(
  changes: readonly TextDiff[],
  tool: string,
  result: string,
): readonly TextDiff[] {
  if (tool !== 'Edit' && tool !== 'MultiEdit') return changes;
  const all = [...result.slice(0, MAX_SEARCHED).matchAll(/\d+ replacements? at lines? (\d+)/g)];
  // A path comes before the line numbers and may contain the same words, so only the last matches count.
  const numbers = all.slice(-changes.length);
  if (numbers.length < changes.length) return changes;
  return changes.map((each, index) => ({ ...each, first: Number(numbers[index]?.[1]) }));
}

/** Returns a text with the line ends of the texts in calls. */
function withNewlines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Compares a written file, whose lines are all in `written`, with its former content. */
export function replacementOf(written: TextDiff, former: string): TextDiff {
  const lines = written.lines.map((line) => (line.sign === '…' ? '' : line.text));
  // A line that was cut would be shown as changed.
  if (lines.some(({ length }) => length >= BOUNDS.lineLength)) return written;
  const before = withNewlines(former);
  const end = before.endsWith('\n') ? '\n' : '';
  return { ...textDiff(before, lines.join('\n') + end, BOUNDS), first: 1 };
}

/** Adds the unchanged lines of the file before and after a change. `former` is the content before the change. */
export function withFileContext(diff: TextDiff, former: string): TextDiff {
  const { lines, first } = diff;
  if (first === null) return diff;
  const file = withNewlines(former).replace(/\n$/, '').split('\n');
  const count = (...signs: readonly string[]) =>
    lines.reduce((all, line) => {
      if (line.sign === '…') return all + line.count;
      return signs.includes(line.sign) ? all + 1 : all;
    }, 0);
  const [start, end] = [first - 1, first - 1 + count(' ', '-')];
  const isChanged = ({ sign }: DiffLine) => sign === '-' || sign === '+';
  const before = Math.max(0, BOUNDS.context - lines.findIndex(isChanged));
  const after = Math.max(0, BOUNDS.context - (lines.length - 1 - lines.findLastIndex(isChanged)));
  const unchanged = (from: number, to: number, number: number): readonly DiffLine[] =>
    file.slice(Math.max(0, from), to).map((text, index) => ({
      sign: ' ',
      text: copied(textStart(text, BOUNDS.lineLength)),
      number: number + index,
      words: null,
    }));
  const shownBefore = Math.min(before, start);
  return {
    ...diff,
    lines: [
      ...unchanged(start - shownBefore, start, 1 - shownBefore),
      ...lines,
      ...unchanged(end, end + after, count(' ', '+') + 1),
    ],
  };
}

/** Returns the agent that a Task call names; null for other calls. */
export function calledAgent(tool: string, input: JsonValue): string | null {
  if (tool !== 'Task' || !isJsonObject(input)) return null;
  const agent = input['subagent_type'];
  return typeof agent === 'string' && agent !== '' ? agent : null;
}

/** The maximum length of a plan or question. Their tools accept no longer ones. */
const MAX_DOCUMENT = 20_000;

/** Returns the plan or the question that a call shows to the user; null for other calls. */
export function callDocument(tool: string, input: JsonValue): string | null {
  if (!isJsonObject(input)) return null;
  if (tool === 'ExitPlanMode') return textStart(text(input['plan']), MAX_DOCUMENT);
  return tool === 'AskUser' ? textStart(text(input['question']), MAX_DOCUMENT) : null;
}

const SCOPE_WORDS: Readonly<Record<GrantScope, string>> = {
  task: 'in this conversation',
  project: 'in this project',
  user: 'in all projects',
};

/** Describes the user's answer to a question of a call. Returns null for a plain permission, which the call itself shows. */
export function describeAnswer(answer: Answer): string | null {
  switch (answer.kind) {
    case 'once':
      return null;
    case 'always':
      return `always, ${SCOPE_WORDS[answer.scope]}`;
    case 'mode':
      return `in its own mode, ${SCOPE_WORDS[answer.scope]}`;
    case 'edits':
      return 'edits are accepted from here on';
    case 'no':
      return answer.reason === null ? 'no' : `no: ${answer.reason}`;
    case 'text':
      return answer.text;
    case 'approved':
      return `${answer.plan === null ? 'approved' : 'changed and approved'}, ${answer.mode} mode`;
    case 'filled':
      return formatFormValues(answer.values) || 'accepted';
    case 'declined':
      return 'declined';
    case 'cancelled':
      return 'cancelled';
    default:
      return answer satisfies never;
  }
}

/** The number of last lines of an output that are kept, and the maximum length of a line. */
const MAX_TAIL_LINES = 6;
const MAX_TAIL_LINE = 500;

/** Returns the last lines of an output. */
export function lastLines(output: string): readonly string[] {
  const end = textEnd(output.trimEnd(), MAX_TAIL_LINES * MAX_TAIL_LINE);
  if (end === '') return [];
  return end
    .split('\n')
    .slice(-MAX_TAIL_LINES)
    .map((line) => copied(textStart(line, MAX_TAIL_LINE)));
}

/** Removes the exit code from the end of a command's result, because the call shows it. */
export function withoutExitNote(result: string): string {
  return result.replace(/(?:^|\n)\[exit code \d+\]$/, '');
}
