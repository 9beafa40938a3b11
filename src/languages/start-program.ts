import type { ServerProcess } from '../sys/processes/server-process.ts';

/** A program that works on the files of a project. */
export interface ProgramToStart {
  /** The name of the program, for messages. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** The working directory. Absolute, without links. */
  readonly cwd: string;
  /** The roots that the program sees. */
  readonly roots: readonly string[];
  /** `read-only`: the program can write only to its temporary directory. `workspace`: also to the roots. */
  readonly access: 'read-only' | 'workspace';
}

/** Starts a program, in the sandbox if there is one. Rejects with the reason why it cannot run. */
export type StartProgram = (program: ProgramToStart) => Promise<ServerProcess>;
