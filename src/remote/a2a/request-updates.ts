import { Role, TaskState, type SendMessageRequest, type Task } from '@a2a-js/sdk';
import { sleep, type Deadlines } from '../../base/deadlines.ts';
import type { Message } from '../../protocol/message.ts';
import type { RemoteTask } from '../../protocol/remote-agent.ts';
import { MessageTooLargeError } from '../../sys/http/web-fetch.ts';
import type { A2aConnection } from './connect.ts';
import { A2aError } from './failure.ts';
import { withTimeLimit, type A2aLimits } from './limits.ts';
import type { RemoteAnswer, RemoteUpdate } from './remote-answer.ts';
import { beginAnew, readOutgoing, type OutgoingText } from './session.ts';

const POLL_GROWTH = 1.5;
/** The number of polls in a row that may fail while there is no connection. */
const MAX_FAILED_POLLS = 5;
/** The names of the SDK's errors that say that a task can't be continued. */
const NOT_CONTINUABLE: ReadonlySet<string> = new Set([
  'TaskNotFoundError',
  'UnsupportedOperationError',
]);

/** One message to a server and the answer to it, while they are on their way. */
export interface A2aExchange {
  readonly connection: A2aConnection;
  readonly answer: RemoteAnswer;
  /** The task. A request that is repeated after a crash has the same message id. */
  readonly task: Pick<RemoteTask, 'task' | 'instructions'>;
  readonly signal: AbortSignal;
  readonly deadlines: Deadlines;
}

/** Sends the last message of a conversation and yields updates until the answer is complete. */
export async function* requestUpdates(
  exchange: A2aExchange,
  messages: readonly Message[],
  pollMs: A2aLimits['pollMs'],
): AsyncGenerator<RemoteUpdate> {
  const { answer } = exchange;
  const { task, instructions } = exchange.task;
  const outgoing = readOutgoing(messages, instructions);
  const messageId = `${task}-${messages.length}`;
  try {
    let isFirst = true;
    for await (const update of send(exchange, toRequest(outgoing, messageId))) {
      // The first update of a task that waited for this message may still be its question.
      const isOld = isFirst && outgoing.taskId !== '' && isQuestion(update);
      isFirst = false;
      if (!isOld) yield update;
    }
  } catch (thrown) {
    if (isUnknownSession(thrown, outgoing))
      // The server does not know the conversation any more, so it is told about it.
      yield* send(exchange, toRequest(beginAnew(messages, instructions), `${messageId}-again`));
    // Without the connection the work goes on.
    else if (!isBroken(exchange, thrown)) throw thrown;
  }
  if (answer.isComplete) return;
  const id = answer.taskId || outgoing.taskId;
  if (id === '') throw new A2aError('malformed', 'the server ended its response without an answer');
  yield* poll(exchange, id, pollMs);
}

async function* send(
  { connection: { client, isStreaming }, signal }: A2aExchange,
  request: SendMessageRequest,
): AsyncGenerator<RemoteUpdate> {
  if (isStreaming) {
    for await (const { payload } of client.sendMessageStream(request, { signal })) yield payload;
    return;
  }
  const value = await client.sendMessage(request, { signal });
  yield 'messageId' in value ? { $case: 'message', value } : { $case: 'task', value };
}

/** Asks the server how its task goes, less and less often. */
async function* poll(
  { connection, signal, deadlines }: A2aExchange,
  id: string,
  [first, max]: A2aLimits['pollMs'],
): AsyncGenerator<RemoteUpdate> {
  let failed = 0;
  for (let wait = first; ; wait = Math.min(wait * POLL_GROWTH, max)) {
    await sleep(deadlines, wait, signal);
    let value: Task;
    try {
      value = await connection.client.getTask({ tenant: '', id }, { signal });
      failed = 0;
    } catch (thrown) {
      failed += 1;
      if (signal.aborted || connection.status() !== null || failed > MAX_FAILED_POLLS) throw thrown;
      continue;
    }
    yield { $case: 'task', value };
  }
}

/** Tells a server that its task is not wanted any more. A failure does not matter, because nobody waits for the task. */
export async function cancelWork(
  { client }: A2aConnection,
  id: string,
  [deadlines, ms]: readonly [Deadlines, number],
): Promise<void> {
  if (id === '') return;
  const request = { tenant: '', id, metadata: undefined };
  const run = (signal: AbortSignal) => client.cancelTask(request, { signal });
  await withTimeLimit(deadlines, [ms, 'the server did not confirm'], run).catch(() => {});
}

function toRequest(
  { text, contextId, taskId }: OutgoingText,
  messageId: string,
): SendMessageRequest {
  return {
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId,
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: [
        {
          content: { $case: 'text', value: text },
          metadata: undefined,
          filename: '',
          mediaType: 'text/plain',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

function isQuestion(update: RemoteUpdate): boolean {
  const state = update?.$case === 'task' ? update.value.status?.state : undefined;
  return state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

function isUnknownSession(thrown: unknown, { contextId, taskId }: OutgoingText): boolean {
  if (contextId === '' && taskId === '') return false;
  const errors = thrown instanceof Error ? [thrown, thrown.cause] : [];
  return errors.some((each) => each instanceof Error && NOT_CONTINUABLE.has(each.name));
}

/** Tells whether a stream broke off after the server had said which task it works on. */
function isBroken({ connection, answer, signal }: A2aExchange, thrown: unknown): boolean {
  const hasBegun = connection.status() === 200 && answer.taskId !== '';
  const isBound = thrown instanceof A2aError || thrown instanceof MessageTooLargeError;
  return hasBegun && !signal.aborted && !isBound;
}
