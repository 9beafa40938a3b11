import type { JsonValue } from '../../base/json.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { taskTreeText } from '../delegation/task-tree.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { fitLines } from '../../tools/shared/output.ts';
import { Arguments } from './arguments.ts';
import { callerOf } from './caller.ts';

const MOST_LINES = 100;
/** For the line that says how many are left out. */
const NOTE_BYTES = 100;

/** All tasks and shells that a task can reach, as a tree, with what each is at. */
export function taskListTool(engine: EngineContext): Tool<null> {
  return {
    name: 'TaskList',
    kind: 'meta',
    replay: 'pure',
    description: 'Your subagents and background shells as a tree: id, status, type, turns.',
    inputSchema: { type: 'object', properties: {} },
    parse,
    run: async (_, context) => list(engine, context),
  };
}

function parse(value: JsonValue): ValidationResult<null> {
  return new Arguments(value, []).result(null);
}

function list(engine: EngineContext, context: ToolContext): ToolOutput {
  const lines = taskTreeText(engine, callerOf(engine, context));
  if (lines.length === 0) return { text: 'No task or shell of yours.' };
  const room = Math.max(0, context.caps.resultBytes - NOTE_BYTES);
  const shown = fitLines(lines.slice(0, MOST_LINES), room).lines;
  const left = lines.length - shown.length;
  const note = left === 0 ? [] : [`[${left} more; what has not ended comes first]`];
  return { text: [...shown, ...note].join('\n') };
}
