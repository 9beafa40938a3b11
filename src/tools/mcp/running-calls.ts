import { truncate } from '../../base/text.ts';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { readForm, readPageAddress } from '../../mcp/read-form.ts';
import type { AskForServer, McpElicitation, McpElicitationAnswer } from '../../mcp/server-data.ts';
import {
  SERVER_LOG_LEVELS,
  type QuestionOfServer,
  type ServerPort,
} from '../../protocol/server-message.ts';

/** The maximum number of questions of one server that are open at the same time. */
const MAX_OPEN_QUESTIONS = 5;
/** The maximum number of code points and lines of a question. */
const MAX_QUESTION_LENGTH = 2_000;
const MAX_QUESTION_LINES = 40;
const CANCEL: McpElicitationAnswer = { action: 'cancel' };

/** A running call of a server's tool. */
interface TrackedCall {
  /** The id by which messages of the server find the call. */
  readonly id: string;
  end(): void;
}

/**
 * The running calls of the tools of all servers in a process. A question or a log message of a server goes to the task of
 * the call that it belongs to. If that is not known, it goes to the newest running call of the server.
 */
export class RunningCalls {
  private readonly ports = new Map<string, ServerPort>();
  private readonly openQuestions = new Map<string, number>();
  private count = 0;

  start(port: ServerPort | undefined): TrackedCall {
    this.count += 1;
    const id = String(this.count);
    if (port !== undefined) this.ports.set(id, port);
    return { id, end: () => void this.ports.delete(id) };
  }

  /** Asks the user of the task whose call a question belongs to. Without such a call, the question is cancelled. */
  readonly ask: AskForServer = async (elicitation, signal) => {
    const { server, callIds } = elicitation;
    const port = this.find(callIds);
    if (port === undefined) return CANCEL;
    const question = toQuestion(elicitation);
    if (typeof question === 'string') {
      port.warn(`A question of MCP server ${server} was cancelled: ${question}.`);
      return CANCEL;
    }
    const open = this.openQuestions.get(server) ?? 0;
    if (open >= MAX_OPEN_QUESTIONS) {
      port.warn(
        `A question of MCP server ${server} was cancelled: ${MAX_OPEN_QUESTIONS} others are open.`,
      );
      return CANCEL;
    }
    this.openQuestions.set(server, open + 1);
    try {
      const answer = await port.ask(question, signal);
      if (answer.action !== 'accept') return answer;
      const content = Object.entries(answer.values).map(
        ([name, value]) => [name, typeof value === 'object' ? [...value] : value] as const,
      );
      return { action: 'accept', content: Object.fromEntries(content) };
    } finally {
      this.openQuestions.set(server, (this.openQuestions.get(server) ?? 1) - 1);
    }
  };

  /**
   * Writes a log message into the log of the task whose call it belongs to. Returns false if there is no such call.
   * Messages for developers are left out.
   */
  log(
    server: string,
    { level, text, callIds }: { level: string; text: string; callIds: readonly string[] },
  ): boolean {
    const port = this.find(callIds);
    if (port === undefined) return false;
    const known = SERVER_LOG_LEVELS.find((each) => each === level) ?? 'info';
    if (known !== 'debug') port.log({ server, level: known, text });
    return true;
  }

  private find(callIds: readonly string[]): ServerPort | undefined {
    const id = callIds.findLast((each) => this.ports.has(each));
    return id === undefined ? undefined : this.ports.get(id);
  }
}

/** Converts a question of a server. Returns the reason, as a clause, if it cannot be shown. */
function toQuestion(elicitation: McpElicitation): QuestionOfServer | string {
  const { server, message } = elicitation;
  const text = cutText(message);
  if (elicitation.mode === 'url') {
    const url = readPageAddress(elicitation.url);
    return url === null
      ? 'it is about an address that is too long, has a user name in it, or is none of the web'
      : { server, text, fields: [], url: url.href };
  }
  const form = readForm(elicitation.schema);
  return form.ok ? { server, text, fields: form.fields, url: null } : `its form ${form.problem}`;
}

function cutText(message: string): string {
  const clean = sanitizeForTerminal(truncate(message, MAX_QUESTION_LENGTH), 'prose').trim();
  const lines = clean.split('\n').slice(0, MAX_QUESTION_LINES);
  const text = lines.join('\n');
  const isCut = message.length > MAX_QUESTION_LENGTH || text !== clean;
  return isCut
    ? `${text} [cut after ${MAX_QUESTION_LENGTH} characters or ${MAX_QUESTION_LINES} lines]`
    : text;
}
