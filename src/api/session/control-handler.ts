import type { ControlRequest, StopTaskRequest, ControlReply } from '../../control/protocol.ts';
import { errorInfo, MusterError, unreachable } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { parseCompactRequest } from './compaction.ts';

/**
 * Creates the function that carries out requests of other terminals. If a request fails, the reply contains the error.
 */
export function createControlHandler(
  engine: Engine,
  store: TaskStore,
): (request: ControlRequest) => Promise<ControlReply> {
  return async (request) => {
    try {
      const id = store.resolveId(request.task);
      return { ok: true, text: await carryOut(engine, { ...request, task: id }) };
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      return { ok: false, error: errorInfo(thrown) };
    }
  };
}

/** Refuses `/compact` for a running task, whose model would read it as a message. */
function refuseCompaction(request: ControlRequest): void {
  const text =
    request.op === 'send' ? request.message : request.op === 'resume' ? request.prompt : undefined;
  if (text === undefined || parseCompactRequest(text) === null) return;
  throw new MusterError(
    'CONFLICT',
    `task ${request.task} is running and compacts its context by itself when necessary; /compact is only for a conversation that has ended`,
  );
}

/** Carries out a request with a full task id. Returns the outcome as a text for people. */
async function carryOut(engine: Engine, request: ControlRequest): Promise<string> {
  const { task } = request;
  refuseCompaction(request);
  switch (request.op) {
    case 'stop':
      return stopTaskHere(engine, request);
    case 'send':
      // A task that is about to end would not read the message, so it is continued with the message instead.
      if (engine.task(task)?.isEnding === false) {
        engine.send(task, request.message);
        return `sent: task ${task} reads it before its next step`;
      }
      await engine.resumeBelow(task, { prompt: request.message });
      return `task ${task} had ended and continues with the message`;
    case 'resume': {
      const { op: _op, task: _task, max_turns: maxTurns, ...others } = request;
      await engine.resumeBelow(task, {
        ...others,
        ...(maxTurns === undefined ? {} : { maxTurns }),
      });
      return `task ${task} continues`;
    }
    case 'background':
      engine.detach(task);
      return `task ${task} continues in the background`;
    case 'answer': {
      const { op: _op, task: _task, answer: text, ...others } = request;
      engine.answer({ ...others, text });
      return `question ${request.question} is answered: task ${task} continues`;
    }
    default:
      return unreachable(request);
  }
}

/** Stops a task of this process, and waits for its end. */
async function stopTaskHere(engine: Engine, { task, because }: StopTaskRequest): Promise<string> {
  const run = engine.task(task);
  if (run === undefined) {
    throw new MusterError('NOT_FOUND', `task ${task} does not run in this process`);
  }
  run.stop(stopOrder('user', because ?? 'stopped from another terminal'));
  await run.end.written;
  const { status, end } = run.outcome();
  return `task ${task}: ${status}: ${end?.because ?? ''}`;
}
