import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { TaskInput } from '../../protocol/event.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { findReachable, handedIn } from '../reach.ts';
import { resumeChild } from '../resume-child.ts';
import type { Workshop } from '../workshop.ts';
import { Arguments } from './arguments.ts';

export interface TaskSendInput {
  readonly to: string;
  readonly message: string;
}

/** Says something to a task: it stands in its very next request, once. An ended one goes on with it. */
export function taskSendTool(workshop: Workshop): Tool<TaskSendInput> {
  return {
    name: 'TaskSend',
    kind: 'meta',
    // Run again after a crash, it sends under the same id, and what came before is not taken twice.
    replay: 'keyed',
    description:
      'Send a message to a subagent of yours: a running one reads it before its next step, an ended one goes on with it in the background.',
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'task id' },
        message: { type: 'string' },
      },
      required: ['to', 'message'],
    },
    parse,
    run: (input, context) => send(workshop, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskSendInput> {
  const args = new Arguments(value, ['to', 'message']);
  return args.result({
    to: args.text('to', 'the id of a task, or the beginning of one'),
    message: args.text('message', 'a text'),
  });
}

async function send(
  workshop: Workshop,
  { to, message }: TaskSendInput,
  { taskId, callId }: ToolContext,
): Promise<ToolOutput> {
  const { running } = workshop;
  const caller = running.get(taskId);
  if (caller === undefined) {
    return { text: `TaskSend: task ${taskId} does not run here`, error: 'INTERNAL_ERROR' };
  }
  const found = findReachable(caller, running, { field: 'to', word: to });
  if (found instanceof MusterError)
    return { text: `TaskSend: ${found.message}`, error: found.code };
  if (found.kind === 'shell') {
    const text = `TaskSend: to: ${found.id} is a shell, and reads nothing`;
    return { text, error: 'INVALID_PARAM' };
  }
  const input: TaskInput = {
    id: `${taskId}-${callId}`,
    kind: 'message',
    from: taskId,
    text: message,
    handed: handedIn(message, caller.state, running),
  };
  const run = await running.listening(found.id);
  const stint = caller.state.children.get(found.id);
  if (run !== undefined && stint?.callId !== callId) {
    run.tell(input);
    return { text: `Sent: task ${found.id} reads it before its next step.` };
  }
  if (run === undefined) {
    const resumed = await resumeChild(workshop, {
      caller,
      callId,
      by: caller.spec.id,
      field: 'to',
      word: found.id,
      message: input,
      background: true,
    });
    if (resumed instanceof MusterError) {
      return { text: `TaskSend: ${resumed.message}`, error: resumed.code };
    }
  }
  return {
    text: `Task ${found.id} had ended and goes on with it in the background; you are told when it ends.`,
  };
}
