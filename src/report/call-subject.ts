import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { truncate } from '../base/text.ts';
import { PATCH_TOOL } from '../protocol/file-tools.ts';
import { parsePatch } from '../protocol/patch.ts';
import { readPatchText } from './requested-edits.ts';

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
  Notify: ['message'],
  Board: ['title', 'id', 'action'],
  Skill: ['skill', 'name'],
};
/** The names of such arguments that any tool may have. */
const COMMON_ARGUMENTS = ['file_path', 'path', 'url', 'query'];

/** Returns the argument that says what a call is about, such as a command, a path or a pattern. */
export function callSubject(tool: string, input: JsonValue): string {
  if (!isJsonObject(input)) return truncate(String(input), MAX_SUBJECT);
  // The list and the plan are shown below the call.
  if (tool === 'TodoWrite') return '';
  if (tool === 'ExitPlanMode') return firstLine(input['plan']);
  if (tool === PATCH_TOOL) return patchedPaths(input);
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

/** Lists the paths that a patch names. */
function patchedPaths(input: JsonObject): string {
  const parsed = parsePatch(readPatchText(input));
  const paths = parsed.ok ? parsed.files.map(({ path }) => path) : [];
  return truncate([...new Set(paths)].join(', '), MAX_SUBJECT);
}

function firstLine(plan: JsonValue | undefined): string {
  const text = typeof plan === 'string' ? plan : '';
  return truncate(text.trimStart().split('\n', 1)[0]?.replace(/^#+ +/, '') ?? '', MAX_SUBJECT);
}
