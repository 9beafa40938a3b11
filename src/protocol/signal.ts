/** A live update for front ends. It is never written to the log, and may be dropped. */
export type TaskSignal =
  /** A request of the task is sent, and its answer has not begun. */
  | { readonly type: 'request_sent'; readonly task: string }
  | { readonly type: 'text_delta'; readonly task: string; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly task: string; readonly text: string }
  | { readonly type: 'tool_call_started'; readonly task: string; readonly name: string }
  | {
      readonly type: 'progress';
      readonly task: string;
      readonly callId: string;
      /** The canonical name of the tool. */
      readonly tool: string;
      readonly line: string;
      /** The last lines of the output so far, if the call has an output. */
      readonly lines?: readonly string[];
    };
