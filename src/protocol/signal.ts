/** A live update for front ends. It is never written to the log, and may be dropped. */
export type TaskSignal =
  /** A request of the task is sent, and its answer has not begun. */
  | { readonly type: 'request_sent'; readonly task: string }
  /** A piece of the text of an answer has arrived. */
  | { readonly type: 'text_delta'; readonly task: string; readonly text: string }
  /** A piece of thinking has arrived. */
  | { readonly type: 'reasoning_delta'; readonly task: string; readonly text: string }
  /** The answer begins a call. Its arguments have not arrived yet. */
  | { readonly type: 'tool_call_started'; readonly task: string; readonly name: string }
  /**
   * The task has answered, and waits for a message or for the end of its work in the background. All of its events so far were
   * reported before.
   */
  | { readonly type: 'task_waiting'; readonly task: string }
  /** A running call reports its progress. `line`: the text for people. */
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
