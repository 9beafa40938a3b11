import { argumentsSchema, failedCall, ArgumentReader } from './argument-reader.ts';
import type { JsonValue } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';
import type { TaskInput } from '../../protocol/input.ts';
import { isStartedBy } from '../../protocol/state/activation.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { foldLog } from '../task/fold-log.ts';
import { findVisibleTask, findVisibleTasksInText } from '../delegation/visible-tasks.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { toFailureDetails } from '../delegation/repeated-delegations.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

/** The input of TaskSend. */
export interface TaskSendInput {
  readonly to: string;
  readonly message: string;
}

/** The argument names in similar tools of other products. */
const ALIASES = {
  task_id: 'to',
  id: 'to',
  agent_id: 'to',
  recipient: 'to',
  content: 'message',
  prompt: 'message',
};

/**
 * Creates the tool that sends a message to a task. The next request of the task contains the message exactly once. An
 * ended task is resumed with it.
 */
export function taskSendTool(engine: EngineContext): Tool<TaskSendInput> {
  return {
    name: 'TaskSend',
    kind: 'meta',
    // A call that runs again after a crash sends the message with the same id, so the message does not arrive twice.
    replay: 'keyed',
    // Its output is a fixed text with an id.
    ownWords: true,
    // The call may wait for the end of a task that is in its last turn and may need the slot of the caller.
    waits: () => true,
    description:
      'Send your subagent a message: a running one reads it before its next step, an ended one goes on with it in the background.',
    inputSchema: argumentsSchema(['to', 'message'], {
      to: { type: 'string', description: 'task id' },
      message: { type: 'string' },
    }),
    parse,
    run: (input, context) => send(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskSendInput> {
  const args = new ArgumentReader(value, ['to', 'message'], ALIASES);
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
  const caller = requireCaller(engine, context);
  const found = findVisibleTask(caller, running, { field: 'to', reference: to });
  if (found instanceof MusterError) return failedCall('TaskSend', found);
  const { id } = found;
  if (found.kind === 'shell') {
    const text = `TaskSend: to: ${id} is a shell and reads no messages`;
    return { text, error: 'INVALID_PARAM' };
  }
  const input: TaskInput = {
    id: `${taskId}-${callId}`,
    kind: 'message',
    from: taskId,
    text: message,
    handed: findVisibleTasksInText(message, caller, running),
  };
  const run = running.get(id);
  const { activation, conversation } = run?.state ?? foldLog(engine.deps.store, id);
  // A call that runs again after a crash finds the activation that it started, even if that activation has ended.
  if (isStartedBy(activation, taskId, callId)) return resumedOutput(id);
  const child = caller.state.children.get(id);
  // This call has reserved the task: the message may be in the log, but the task was not resumed yet.
  const isReserved = child?.callId === callId && child.status === null;
  if (!isReserved && conversation.inputIds.has(input.id)) return sentOutput(id);
  if (run?.isEnding === false) {
    run.mailbox.send(input);
    return sentOutput(id);
  }
  const resumed = await resumeChild(engine, {
    caller,
    callId,
    by: taskId,
    field: 'to',
    reference: id,
    message: input,
    background: true,
  });
  if (resumed instanceof MusterError) {
    return { ...failedCall('TaskSend', resumed), ...toFailureDetails(resumed) };
  }
  return resumedOutput(id);
}

function sentOutput(id: string): ToolOutput {
  return { text: `Sent: task ${id} reads it before its next step.` };
}

function resumedOutput(id: string): ToolOutput {
  return {
    text: `Task ${id} had ended and goes on with it in the background; you are told when it ends.`,
  };
}
