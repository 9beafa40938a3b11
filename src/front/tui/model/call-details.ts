import type { CallState } from './entry.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { textDiff, type DiffBounds, type TextDiff } from './text-diff.ts';
import { truncate } from '../../../base/text.ts';

/** The limits of each kept change. Only the sizes of the changes after the first `MAX_CHANGES` of a call are kept. */
const BOUNDS: DiffBounds = { lines: 120, lineLength: 500, context: 3 };
const SIZE_ONLY: DiffBounds = { ...BOUNDS, lines: 0 };
const MAX_CHANGES = 20;
/** The length of the part of a result that is searched for line numbers, in UTF-16 units. */
const MAX_SEARCHED = 20_000;

/** Returns the text changes that a call of Write, Edit or MultiEdit requests; an empty list for other calls. */
export function textChanges(tool: string, input: JsonValue): readonly TextDiff[] {
  if (!isJsonObject(input)) return [];
  switch (tool) {
    case 'Write':
      return [textDiff(null, text(input['content']), BOUNDS)];
    case 'Edit':
      return [change(input, BOUNDS)];
    case 'MultiEdit': {
      const { edits } = input;
      if (!Array.isArray(edits)) return [];
      return edits.flatMap((edit: JsonValue, index) =>
        isJsonObject(edit) ? [change(edit, index < MAX_CHANGES ? BOUNDS : SIZE_ONLY)] : [],
      );
    }
    default:
      return [];
  }
}

function change(edit: JsonObject, bounds: DiffBounds): TextDiff {
  return textDiff(text(edit['old_string']), text(edit['new_string']), bounds);
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

/** The maximum length of a subject, in UTF-16 units. */
const MAX_SUBJECT = 400;

/** The names of the arguments that say what a call is about, by tool, the most specific first. */
const SUBJECT_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['command'],
  Grep: ['pattern'],
  Glob: ['pattern'],
  Task: ['description', 'prompt'],
  TaskOutput: ['task_id'],
  TaskStop: ['task_id'],
  TaskSend: ['to'],
  AskUser: ['question'],
  ExitPlanMode: ['plan'],
  Notify: ['message'],
  Skill: ['skill', 'name'],
};
/** The names of such arguments that any tool may have. */
const COMMON_ARGUMENTS = ['file_path', 'path', 'url', 'query'];

/** Returns the argument that says what a call is about, such as a command, a path or a pattern. */
export function callSubject(tool: string, input: JsonValue): string {
  if (!isJsonObject(input)) return truncate(String(input), MAX_SUBJECT);
  const telling = [...(SUBJECT_ARGUMENTS[tool] ?? []), ...COMMON_ARGUMENTS];
  for (const name of telling) {
    const value = input[name];
    if (typeof value === 'string' && value !== '') {
      const kind = tool === 'Task' ? input['subagent_type'] : undefined;
      return truncate(typeof kind === 'string' ? `${kind}: ${value}` : value, MAX_SUBJECT);
    }
  }
  return Object.keys(input).length === 0 ? '' : truncate(JSON.stringify(input), MAX_SUBJECT);
}

/** Returns the state of an ended call. A call that was stopped has not failed. */
export function toCallState(error: string | null): CallState {
  if (error === null) return 'done';
  return error === 'CANCELLED' ? 'stopped' : 'failed';
}
