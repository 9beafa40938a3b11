import type { ModelPort } from '../protocol/model.ts';

/** The port to the remote agents of one protocol. Each request belongs to a task (`ModelRequest.remote`). */
export interface RemoteAgentPort extends ModelPort {
  /** Ends what runs for a task. Resolves when nothing of it runs any more. Never rejects. An unknown task has no effect. */
  endTask(id: string): Promise<void>;
  /** Ends what runs for all tasks. Never rejects. */
  close(): Promise<void>;
}
