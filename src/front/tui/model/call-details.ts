import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { textDiff, type DiffBounds, type TextDiff } from './text-diff.ts';
import { truncate } from '../../../base/text.ts';

/** What is kept of one change; of those behind the first ones of a call it is how large they are. */
const BOUNDS: DiffBounds = { lines: 120, lineLength: 500, around: 3 };
const COUNTED: DiffBounds = { ...BOUNDS, lines: 0 };
const MOST_CHANGES = 20;
/** In which the tool says where it has changed the file, in UTF-16 units. */
const MOST_SAID = 20_000;

/** The changes of text that a call of Write, Edit or MultiEdit asks for; none for other calls. */
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
        isJsonObject(edit) ? [change(edit, index < MOST_CHANGES ? BOUNDS : COUNTED)] : [],
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

/** The same changes with their places in the file, once the tool has said them: `1 replacement at line 12`. */
export function placedChanges(
  changes: readonly TextDiff[],
  tool: string,
  said: string,
): readonly TextDiff[] {
  if (tool !== 'Edit' && tool !== 'MultiEdit') return changes;
  const all = [...said.slice(0, MOST_SAID).matchAll(/\d+ replacements? at lines? (\d+)/g)];
  // The path stands before them, whatever it holds.
  const places = all.slice(-changes.length);
  if (places.length < changes.length) return changes;
  return changes.map((each, index) => ({ ...each, first: Number(places[index]?.[1]) }));
}

/** Of one call, in UTF-16 units. */
const MOST = 400;

/** The argument that says what a call of a tool is about, the most telling first. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
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
const ANY_TOOL = ['file_path', 'path', 'url', 'query'];

/** What a call is about, in a few words of its own arguments: the command, the path, the pattern. */
export function callSubject(tool: string, input: JsonValue): string {
  if (!isJsonObject(input)) return truncate(String(input), MOST);
  const telling = [...(TELLING[tool] ?? []), ...ANY_TOOL];
  for (const name of telling) {
    const value = input[name];
    if (typeof value === 'string' && value !== '') {
      const kind = tool === 'Task' ? input['subagent_type'] : undefined;
      return truncate(typeof kind === 'string' ? `${kind}: ${value}` : value, MOST);
    }
  }
  return Object.keys(input).length === 0 ? '' : truncate(JSON.stringify(input), MOST);
}
