import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';

export interface TaskOutputInput {
  readonly taskId: string;
  /** Where in the answer to go on, in UTF-16 units. */
  readonly offset: number;
}

export type ReadTaskOutput = (input: TaskOutputInput, context: ToolContext) => ToolOutput;

/** Gives the rest of a subagent's answer that was too long for one result. */
export function taskOutputTool(read: ReadTaskOutput): Tool<TaskOutputInput> {
  return {
    name: 'TaskOutput',
    kind: 'meta',
    replay: 'pure',
    description: 'Read on in the answer of a subagent of yours, from `offset`.',
    inputSchema: {
      type: 'object',
      properties: {
        task_id: { type: 'string' },
        offset: { type: 'integer', minimum: 0 },
      },
      required: ['task_id'],
    },
    parse: parseTaskOutputInput,
    run: async (input, context) => read(input, context),
  };
}

function parseTaskOutputInput(value: JsonValue): ValidationResult<TaskOutputInput> {
  if (!isJsonObject(value)) return { ok: false, issues: ['the arguments must be an object'] };
  const { task_id: taskId, offset = 0 } = value;
  const issues: string[] = [];
  if (typeof taskId !== 'string' || taskId === '') {
    issues.push('task_id: must be the id of a task, or the beginning of one');
  }
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) {
    issues.push(`offset: must be a whole number from 0 on, not ${JSON.stringify(offset)}`);
  }
  if (typeof taskId !== 'string' || typeof offset !== 'number' || issues.length > 0) {
    return { ok: false, issues };
  }
  return { ok: true, input: { taskId, offset } };
}
