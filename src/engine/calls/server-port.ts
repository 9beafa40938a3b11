import { truncate } from '../../base/text.ts';
import type { AnswerToServer, ClosableServerPort } from '../../protocol/server-message.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { PortSetup } from '../shells/remote-work.ts';

/** The maximum number of log messages, of warnings and of questions of a server in one call or piece of work. */
const MAX_MESSAGES = 200;
const MAX_WARNINGS = 20;
const MAX_QUESTIONS = 20;
/** The maximum number of code points of a log message and of a warning. */
const MAX_TEXT_LENGTH = 1_000;

/** Creates the port through which an MCP server asks the user, and writes into the log of the task. */
export function createServerPort(
  deps: EngineDeps,
  run: TaskRun,
  { callId, tool, workId, runWait }: PortSetup,
): ClosableServerPort {
  const closing = new AbortController();
  const left = { messages: MAX_MESSAGES, warnings: MAX_WARNINGS, questions: MAX_QUESTIONS };
  // One question at a time: the state of a task knows questions by the call or work that they belong to.
  let last: Promise<unknown> = Promise.resolve();
  const isRunning = (): boolean => {
    if (closing.signal.aborted) return false;
    if (workId === undefined) return run.state.runningCalls.has(callId);
    // Work that has just begun is not recorded yet.
    return (run.state.shells.get(workId)?.end ?? null) === null;
  };
  const warn = (text: string): void => {
    left.warnings -= 1;
    if (left.warnings < 0 || !isRunning()) return;
    run.journal.record({ type: 'warning', message: truncate(text, MAX_TEXT_LENGTH) });
  };
  return {
    warn,
    ask: (question, given) => {
      left.questions -= 1;
      if (left.questions < 0) {
        warn(
          `MCP server ${question.server} has asked more than ${MAX_QUESTIONS} questions in one call; the others are cancelled.`,
        );
        return Promise.resolve(CANCELLED);
      }
      const signal = AbortSignal.any([given, closing.signal]);
      const answer = last.then(async () => {
        if (signal.aborted || !isRunning()) return CANCELLED;
        const { askForServer } = await import('../questions/ask-for-server.ts');
        const asking = { callId: workId ?? callId, tool, runWait };
        return await askForServer(deps, run, asking, { ...question, signal });
      });
      last = answer.catch(() => {});
      return answer;
    },
    log: ({ server, level, text }) => {
      left.messages -= 1;
      if (left.messages < 0 || !isRunning()) return;
      const isLast = left.messages === 0;
      const cut = truncate(text, MAX_TEXT_LENGTH);
      const shown = cut === text ? text : `${cut} [cut after ${MAX_TEXT_LENGTH} characters]`;
      run.journal.record({ type: 'server.logged', callId, server, level, text: shown });
      if (!isLast) return;
      const message = `MCP server ${server} has sent ${MAX_MESSAGES} log messages in one call; the others are left out.`;
      run.journal.record({ type: 'warning', message });
    },
    close: async () => {
      closing.abort(new Error('the call has ended'));
      await last;
    },
  };
}

const CANCELLED: AnswerToServer = { action: 'cancel' };
