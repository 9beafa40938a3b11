import { type ErrorInfo, MusterError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import { VERSION } from '../base/version.ts';

/** What another terminal may ask of the process that runs a task. `task` is an id or its beginning. */
export type ControlRequest =
  | StopTaskRequest
  | SendMessageRequest
  | ResumeTaskRequest
  | BackgroundTaskRequest
  | AnswerQuestionRequest;

/** Stop a task and what is below it. */
export interface StopTaskRequest {
  readonly op: 'stop';
  readonly task: string;
  /** Why, in words: stands in the log. */
  readonly because?: string;
}

/** Steer a running task, or wake an ended one. */
export interface SendMessageRequest {
  readonly op: 'send';
  readonly task: string;
  readonly message: string;
}

/** Go on with an ended task. */
export interface ResumeTaskRequest {
  readonly op: 'resume';
  readonly task: string;
  /** The next user message. Absent: go on where it ended. */
  readonly prompt?: string;
  readonly model?: string;
  /** At least 1. */
  readonly max_turns?: number;
}

/** Let the parent of a foreground task go on without it. */
export interface BackgroundTaskRequest {
  readonly op: 'background';
  readonly task: string;
}

/** Answer a question of a task. */
export interface AnswerQuestionRequest {
  readonly op: 'answer';
  readonly task: string;
  /** Its id. */
  readonly question: string;
  /** `yes`, `no` or `always`, or the text that was asked for. */
  readonly answer: string;
  /** How far an `always` reaches. */
  readonly scope?: string;
  /** Why not. */
  readonly reason?: string;
  /** A plan as the person changed it, where that is approved. */
  readonly plan?: string;
}

/** What became of a request: `text` is for people, `data` for programs. */
export type ControlReply =
  | { readonly ok: true; readonly text: string; readonly data?: JsonValue }
  | { readonly ok: false; readonly error: ErrorInfo };

/**
 * The version of the lines on a control socket. It goes up when an old peer would misread a new
 * line; a new field in `data`, or a new `type` of line before the reply, is none of that.
 */
export const CONTROL_VERSION = 1;

/**
 * Throws `CONFLICT` for a line in another version. To be asked first: nothing else in such a line
 * means what it seems to. `who` sent it.
 */
export function checkVersion(version: unknown, who: 'client' | 'process'): void {
  if (version === CONTROL_VERSION) return;
  const theirs = typeof version === 'number' ? `version ${version}` : 'no version that can be read';
  const other = who === 'client' ? 'this command' : 'the running Muster process';
  const self = who === 'client' ? 'the running Muster process' : 'this command';
  throw new MusterError(
    'CONFLICT',
    `${other} speaks ${theirs} of the control protocol, ${self} (Muster ${VERSION}) version ${CONTROL_VERSION}: use one release of Muster for both`,
  );
}
