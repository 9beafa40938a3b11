import { dropMissing } from '../../base/drop-missing.ts';
import type { ControlRequest, StopTaskRequest, ControlReply } from '../../control/protocol.ts';
import { errorInfo, MusterError, unreachable } from '../../base/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { parseCompactRequest } from './compaction.ts';

/**
 * Creates the function that carries out requests of other terminals. An error becomes the reply.
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
  const words =
    request.op === 'send' ? request.message : request.op === 'resume' ? request.prompt : undefined;
  if (words === undefined || parseCompactRequest(words) === null) return;
  throw new MusterError(
    'CONFLICT',
    `task ${request.task} is in use: it makes room in its context by itself when that is needed; /compact is for a conversation that has ended`,
  );
}

/** Carries out a request with a full task id. Returns the outcome for people. */
async function carryOut(engine: Engine, request: ControlRequest): Promise<string> {
  const { task } = request;
  refuseCompaction(request);
  switch (request.op) {
    case 'stop':
      return stop(engine, request);
    case 'send':
      // One that is about to end would not read it: it goes on with it instead.
      if (engine.task(task)?.isEnding === false) {
        engine.send(task, request.message);
        return `sent: task ${task} reads it before its next step`;
      }
      await engine.resumeBelow(task, { prompt: request.message });
      return `task ${task} had ended and goes on with it`;
    case 'resume': {
      const { prompt, model, max_turns: maxTurns } = request;
      await engine.resumeBelow(task, dropMissing({ prompt, model, maxTurns }));
      return `task ${task} goes on`;
    }
    case 'background':
      engine.detach(task);
      return `task ${task} goes on in the background`;
    case 'answer': {
      const { question, answer: text, scope, reason, plan } = request;
      engine.answer({ question, text, ...dropMissing({ scope, reason, plan }) });
      return `question ${question} is answered: task ${task} goes on`;
    }
    default:
      return unreachable(request);
  }
}

async function stop(engine: Engine, { task, because }: StopTaskRequest): Promise<string> {
  const run = engine.task(task);
  if (run === undefined) {
    throw new MusterError('NOT_FOUND', `task ${task} does not run in this process`);
  }
  run.stop(stopOrder('user', because ?? 'stopped from another terminal'));
  await run.end.written;
  const { status, end } = run.outcome();
  return `task ${task}: ${status}: ${end?.because ?? ''}`;
}
