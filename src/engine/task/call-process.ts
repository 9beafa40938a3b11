import type { ResolvedCall } from '../../policy/call.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { AnyTool, FileAccess, ToolContext, ToolOutput } from '../../protocol/tool.ts';

/** The data from which the access of a call to files is computed, in this process or in another one. */
export interface AccessBasis {
  readonly call: ResolvedCall;
  readonly rights: Rights;
  readonly home: string;
  readonly stateDirectories: readonly string[];
}

/** The access of a call to files, with the data from which it was computed; null: the call opens no files. */
export interface CallFileAccess extends FileAccess {
  readonly basis: AccessBasis | null;
}

/** A call that was allowed and is to run in the process of its task. */
export interface CallForProcess {
  readonly tool: AnyTool;
  readonly input: unknown;
  /** The ports of the call. The process reaches those that have to stay in this process by messages. */
  readonly context: ToolContext;
  readonly basis: AccessBasis | null;
  /** Describes why the signal of the context has aborted, as a clause. */
  describeStop(): string;
}

/** The process of one task, in which calls of some tools run instead of in this process. */
export interface CallProcess {
  /** Tells whether the calls of a tool run in the process. */
  runs(tool: AnyTool): boolean;
  /** Runs a call. Rejects like `Tool.run`. If the process ends meanwhile, the output says so. */
  run(call: CallForProcess): Promise<ToolOutput>;
  /** Ends the process and everything that it started. May be called more than once. */
  end(): Promise<void>;
}

/** The limits of the processes of an isolated task. */
export interface ProcessLimits {
  /** The heap of the process of the task, in MB. */
  readonly heapMb: number;
  /** The resident memory of the process and of the commands of the task, in MB. */
  readonly memoryMb: number;
  /** The processor time of each of these processes, in seconds. */
  readonly cpuSeconds: number;
}

/** A program that serves calls, and the tools whose calls it serves. */
export interface ProcessProgram {
  /** The path of the file that Node runs. */
  readonly path: string;
  readonly tools: readonly AnyTool[];
}

/** The processes that isolated tasks get. */
export interface TaskProcesses {
  readonly limits: ProcessLimits;
  /** Default: Muster's own program. */
  readonly program?: ProcessProgram;
}
