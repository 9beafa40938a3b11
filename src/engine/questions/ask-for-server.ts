import { rejectOnAbort } from '../../base/async.ts';
import { newId } from '../../base/ids.ts';
import { decideServerQuestion } from '../../policy/decide-question.ts';
import { answerHookFields, elicitationHookFields } from '../../protocol/hook-fields.ts';
import { runHooks } from '../hooks/run-hooks.ts';
import type { AnswerToServer, QuestionOfServer } from '../../protocol/server-message.ts';
import type { ServerQuestion } from '../../protocol/question.ts';
import type { EngineDeps } from '../task/deps.ts';
import { isWaiting } from '../task/inbox.ts';
import type { TaskRun } from '../task/task-run.ts';
import {
  describeAskingTask,
  describeTask,
  findAnswer,
  openQuestion,
  withdrawServerQuestion,
  type WaitRunner,
} from './ask-person.ts';

/** The call or work during which a server asks. */
interface AskingCall {
  /** The id of the call, or of the work if the call may have ended. */
  readonly callId: string;
  readonly tool: string;
  readonly runWait: WaitRunner;
}

/**
 * Asks the user a question of an MCP server, and waits for the answer. Hooks may decline before and after that. If nobody can be asked, the question is cancelled
 * at once with a warning. If the signal aborts, the server no longer waits, and the question is withdrawn. Never rejects
 * because of a stop: the server is then told that its question is cancelled.
 */
export async function askForServer(
  deps: EngineDeps,
  run: TaskRun,
  asking: AskingCall,
  question: QuestionOfServer & { readonly signal: AbortSignal },
): Promise<AnswerToServer> {
  const about = asking.callId;
  const matched = question.server;
  const asked = { about, matched, fields: elicitationHookFields(question) };
  const before = await runHooks(deps, run, { event: 'Elicitation', ...asked });
  if (before.block !== undefined) return DECLINED;
  const answer = await askUser(deps, run, asking, question);
  // The server no longer waits, and its call may have ended.
  if (question.signal.aborted) return answer;
  const values = answer.action === 'accept' ? answer.values : undefined;
  const fields = answerHookFields(question, answer.action, values);
  const after = await runHooks(deps, run, { event: 'ElicitationResult', about, matched, fields });
  return after.block === undefined ? answer : DECLINED;
}

async function askUser(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  run: TaskRun,
  { callId, tool, runWait }: AskingCall,
  { server, text, fields, url, signal }: QuestionOfServer & { readonly signal: AbortSignal },
): Promise<AnswerToServer> {
  const refusal = decideServerQuestion(describeAskingTask(run));
  if (refusal !== null) {
    run.journal.record({
      type: 'warning',
      message: `MCP server ${server} has a question, which was cancelled. ${refusal} The question: ${text}`,
    });
    return CANCELLED;
  }
  // Each question of a server is a new one: an earlier answer to the same words does not count.
  const digest = newId();
  const question = openQuestion(run, { callId, digest }, (id): ServerQuestion => ({
    kind: 'server',
    id,
    task: run.spec.id,
    callId,
    chain: run.chain(),
    ...describeTask(run),
    tool,
    server,
    text,
    fields,
    url,
  }));
  const isOpen = () => isWaiting({ asker: run, question });
  try {
    while (isOpen()) await runWait(() => rejectOnAbort(inbox.wait(run, question), signal));
  } catch (thrown) {
    if (!signal.aborted && !run.cancellation.turnSignal.aborted) throw thrown;
  }
  if (withdrawServerQuestion(run, callId)) {
    // The wait that was left is ended, so that the inbox forgets the question.
    inbox.reconsider();
    return CANCELLED;
  }
  const answer = findAnswer(run, callId, digest);
  if (answer?.kind === 'filled') return { action: 'accept', values: answer.values };
  return answer?.kind === 'declined' ? { action: 'decline' } : CANCELLED;
}

const CANCELLED: AnswerToServer = { action: 'cancel' };
const DECLINED: AnswerToServer = { action: 'decline' };
