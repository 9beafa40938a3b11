import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { truncate } from '../../../base/text.ts';

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
