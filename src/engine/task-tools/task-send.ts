import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { foldLog } from '../task/fold-log.ts';
import { findVisibleTask, visibleTasksIn } from '../delegation/visible-tasks.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { factsOf } from '../delegation/check-repeated-delegations.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { Arguments } from './arguments.ts';
import { callerOf } from './caller.ts';

export interface TaskSendInput {
  readonly to: string;
  readonly message: string;
}

/** As the message tools of other products call them. */
const ALIASES = {
  task_id: 'to',
  id: 'to',
  agent_id: 'to',
  recipient: 'to',
  content: 'message',
  prompt: 'message',
};

/** Says something to a task: it stands in its very next request, once. An ended one goes on with it. */
export function taskSendTool(engine: EngineContext): Tool<TaskSendInput> {
  return {
    name: 'TaskSend',
    kind: 'meta',
    // Run again after a crash, it sends under the same id, and what came before is not taken twice.
    replay: 'keyed',
    ownWords: true,
    // For the end of one in its last turn, which may need the slot.
    waits: () => true,
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
    run: (input, context) => send(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskSendInput> {
  const args = new Arguments(value, ['to', 'message'], ALIASES);
  return args.result({
    to: args.text('to', 'the id of a task, or the beginning of one'),
    message: args.text('message', 'a text'),
  });
}

async function send(
  engine: EngineContext,
  { to, message }: TaskSendInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { running } = engine;
  const { taskId, callId } = context;
  const caller = callerOf(engine, context);
  const found = findVisibleTask(caller, running, { field: 'to', word: to });
  if (found instanceof MusterError)
    return { text: `TaskSend: ${found.message}`, error: found.code };
  const { id } = found;
  if (found.kind === 'shell') {
    const text = `TaskSend: to: ${id} is a shell, and reads nothing`;
    return { text, error: 'INVALID_PARAM' };
  }
  const input: TaskInput = {
    id: `${taskId}-${callId}`,
    kind: 'message',
    from: taskId,
    text: message,
    handed: visibleTasksIn(message, caller, running),
  };
  const run = running.get(id);
  const { activation, conversation } = run?.state ?? foldLog(engine.deps.store, id);
  // Run again after a crash, it finds what it did, wherever the task stands by now.
  if (isStartedBy(activation, taskId, callId)) return goesOn(id);
  const child = caller.state.children.get(id);
  // Announced by this very call: the message may be there, but nothing goes on with it yet.
  const isAnnounced = child?.callId === callId && child.status === null;
  if (!isAnnounced && conversation.inputIds.has(input.id)) return sent(id);
  if (run?.isEnding === false) {
    run.mailbox.send(input);
    return sent(id);
  }
  const resumed = await resumeChild(engine, {
    caller,
    callId,
    by: taskId,
    field: 'to',
    word: id,
    message: input,
    background: true,
  });
  if (resumed instanceof MusterError) {
    return { text: `TaskSend: ${resumed.message}`, error: resumed.code, ...factsOf(resumed) };
  }
  return goesOn(id);
}

function sent(id: string): ToolOutput {
  return { text: `Sent: task ${id} reads it before its next step.` };
}

function goesOn(id: string): ToolOutput {
  return {
    text: `Task ${id} had ended and goes on with it in the background; you are told when it ends.`,
  };
}
