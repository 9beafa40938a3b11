import type { AcpProgram, RemoteTask } from '../../protocol/remote-agent.ts';
import type { ServerProcess } from '../../sys/processes/server-process.ts';

/** A program that does the work of a task, and the access that it gets to the files of the task. */
export interface AcpStart {
  readonly task: RemoteTask;
  readonly program: AcpProgram;
  /** `read-only`: nothing on disk can be changed. `workspace`: the roots of the task can be changed. */
  readonly access: 'read-only' | 'workspace';
}

/** Starts a program, confined as its task requires. Rejects with a message for people if it cannot be started. */
export type StartAcpProgram = (start: AcpStart) => Promise<ServerProcess>;
