import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { textDiff, type DiffBounds, type TextDiff } from './text-diff.ts';
import { truncate } from '../../../base/text.ts';

/** The limits of one change that is kept. Of the later changes of a call only the size is kept. */
const BOUNDS: DiffBounds = { lines: 120, lineLength: 500, context: 3 };
const COUNTED: DiffBounds = { ...BOUNDS, lines: 0 };
const MAX_CHANGES = 20;
/** The part of a result that is searched for line numbers, in UTF-16 units. */
const MAX_SEARCHED = 20_000;

/** The text changes that a call of Write, Edit or MultiEdit requests; none for other calls. */
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
        isJsonObject(edit) ? [change(edit, index < MAX_CHANGES ? BOUNDS : COUNTED)] : [],
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

/** The same changes with their line numbers, which the result of the call names: `1 replacement at line 12`. */
export function addLineNumbers(
  changes: readonly TextDiff[],
  tool: string,
  result: string,
): readonly TextDiff[] {
  if (tool !== 'Edit' && tool !== 'MultiEdit') return changes;
  const all = [...result.slice(0, MAX_SEARCHED).matchAll(/\d+ replacements? at lines? (\d+)/g)];
  // The path comes before them, and may contain anything.
  const numbers = all.slice(-changes.length);
  if (numbers.length < changes.length) return changes;
  return changes.map((each, index) => ({ ...each, first: Number(numbers[index]?.[1]) }));
}

/** The longest subject, in UTF-16 units. */
const MAX_SUBJECT = 400;

/** For each tool the arguments that say what a call is about, the most specific first. */
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
const COMMON_ARGUMENTS = ['file_path', 'path', 'url', 'query'];

/** The argument that says what a call is about: the command, the path, the pattern. */
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
