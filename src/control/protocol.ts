import { type ErrorInfo, MusterError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { VERSION } from '../base/version.ts';

/**
 * A request from another terminal to the process that runs a task. `task` is the id of the task, or the beginning of
 * its id.
 */
export type ControlRequest =
  | StopTaskRequest
  | SendMessageRequest
  | ResumeTaskRequest
  | BackgroundTaskRequest
  | AnswerQuestionRequest;

/** Stops a task and its descendants. */
export interface StopTaskRequest {
  readonly op: 'stop';
  readonly task: string;
  /** The reason, for the log. */
  readonly because?: string;
}

/** Sends a message to a running task, or continues an ended task with the message. */
export interface SendMessageRequest {
  readonly op: 'send';
  readonly task: string;
  readonly message: string;
}

/** Continues an ended task. */
export interface ResumeTaskRequest {
  readonly op: 'resume';
  readonly task: string;
  /** The next user message. Default: none. */
  readonly prompt?: string;
  readonly model?: string;
  /** The new limit of turns, at least 1. */
  readonly max_turns?: number;
}

/** Sends a foreground task to the background, so that its parent continues without it. */
export interface BackgroundTaskRequest {
  readonly op: 'background';
  readonly task: string;
}

/** Answers a question of a task. */
export interface AnswerQuestionRequest {
  readonly op: 'answer';
  readonly task: string;
  /** The id of the question. */
  readonly question: string;
  /** `yes`, `no`, `always`, `edits` or `mode`, or the requested text. */
  readonly answer: string;
  /** The scope of `always`. */
  readonly scope?: string;
  /** The reason for a `no`. */
  readonly reason?: string;
  /** The approved plan, if the person changed it. */
  readonly plan?: string;
}

/** The outcome of a request: `text` is for people, `data` for programs. */
export type ControlReply =
  | { readonly ok: true; readonly text: string; readonly data?: JsonValue }
  | { readonly ok: false; readonly error: ErrorInfo };

/**
 * The version of the lines on a control socket. It must increase if an older peer would misinterpret a new kind of
 * line. A new field in `data`, or a new `type` of line before the reply, does not require a new version.
 */
export const CONTROL_VERSION = 1;

/**
 * Throws `CONFLICT` for a line in another version. It must be called before any other field is read, because the other
 * fields may have another meaning in that version.
 *
 * @param who the sender of the line
 */
export function checkVersion(version: unknown, who: 'client' | 'process'): void {
  if (version === CONTROL_VERSION) return;
  const otherVersion =
    typeof version === 'number' ? `version ${version}` : 'no version that can be read';
  const other = who === 'client' ? 'this command' : 'the running Muster process';
  const self = who === 'client' ? 'the running Muster process' : 'this command';
  throw new MusterError(
    'CONFLICT',
    `${other} uses ${otherVersion} of the control protocol, but ${self} (Muster ${VERSION}) uses version ${CONTROL_VERSION}: use the same release of Muster for both`,
  );
}

/** The limits of a control socket. A client that exceeds one gets an error that names it. */
export interface ControlLimits {
  /**
   * The maximum number of connections that are served at the same time. Further clients get an error that asks them to
   * try again.
   */
  readonly connections: number;
  /** The maximum number of bytes of a request line, without its newline. */
  readonly requestBytes: number;
  /** The maximum time from the connection to the end of the request line, in milliseconds. */
  readonly requestMs: number;
  /** The maximum time from the reply until the client has closed the connection, in milliseconds. */
  readonly lingerMs: number;
  /** The maximum time that `close` waits until clients have read the last replies, in milliseconds. */
  readonly closeMs: number;
}

export const CONTROL_LIMITS: ControlLimits = {
  connections: 16,
  requestBytes: 1024 * 1024,
  requestMs: 10_000,
  lingerMs: 10_000,
  closeMs: 250,
};

/** The maximum number of bytes of a reply line. Longer answers are only in the task's output file. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;
