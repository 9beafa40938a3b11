import type { FormValues } from './form.ts';
import type { ServerQuestion } from './question.ts';

/** The levels of the log messages of MCP servers, the least severe first. */
export const SERVER_LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
/** The levels of the log messages of MCP servers, the least severe first. */
export type ServerLogLevel = (typeof SERVER_LOG_LEVELS)[number];

/** A log message of an MCP server. The text is untrusted. */
export interface ServerMessage {
  readonly server: string;
  readonly level: ServerLogLevel;
  readonly text: string;
}

/** Returns the level of Muster's own notices that corresponds to the level of a server's message. */
export function toNoticeLevel(level: ServerLogLevel): 'info' | 'warning' | 'error' {
  const severity = SERVER_LOG_LEVELS.indexOf(level);
  if (severity < SERVER_LOG_LEVELS.indexOf('warning')) return 'info';
  return level === 'warning' ? 'warning' : 'error';
}

/** Formats a message for people. The result may hold any text, and must be made safe to print. */
export function formatServerMessage({ server, level, text }: ServerMessage): string {
  return `MCP server ${server} (${level}): ${text}`;
}

/** A question of a server to the user. All texts are untrusted. */
export type QuestionOfServer = Pick<ServerQuestion, 'server' | 'text' | 'fields' | 'url'>;

/** The user's answer to a server. */
export type AnswerToServer =
  | { readonly action: 'accept'; readonly values: FormValues }
  | { readonly action: 'decline' | 'cancel' };

/** Lets an MCP server speak to the user of the task. */
export interface ServerPort {
  /** Asks the user. Resolves with `cancel` if nobody can be asked, or if the signal aborts or the call or work ends. */
  ask(question: QuestionOfServer, signal: AbortSignal): Promise<AnswerToServer>;
  /** Writes a message of the server into the log of the task. Does nothing after the end of the call or work, and after too many. */
  log(message: ServerMessage): void;
  /** Warns the user about something that the server did. Does nothing after the end of the call or work, and after too many. */
  warn(text: string): void;
}

/** A port with a function that withdraws its open question at the end of the call or work. */
export interface ClosableServerPort extends ServerPort {
  close(): Promise<void>;
}
