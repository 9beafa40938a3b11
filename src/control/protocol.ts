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
