import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ReplayClass, ValidationResult } from './tool.ts';

/**
 * The access of a call of a program's tool: what it would touch, from which Muster decides whether it may run. Paths may be relative to the
 * working directory of the task.
 */
export interface ProgramToolAccess<Input = unknown> {
  /** Returns the files and directories that the call reads. Default: none. */
  readonly reads?: (input: Input) => string | readonly string[];
  /** Returns the files that the call creates, changes or deletes. Default: none. */
  readonly writes?: (input: Input) => string | readonly string[];
  /** Returns the names of the hosts that the call contacts. Default: none. */
  readonly hosts?: (input: Input) => string | readonly string[];
  /** True if the call only fetches from these hosts and changes nothing there. Default: false. */
  readonly onlyFetches?: boolean;
  /** Returns the shell command lines that the call runs. Default: none. */
  readonly commands?: (input: Input) => string | readonly string[];
}

/** The task in which a tool of a program runs. */
export interface ProgramToolContext {
  /** The id of the task that makes the call. */
  readonly taskId: string;
  /** The id of the call, which is unique in the task and stays the same if the call is repeated after a crash. */
  readonly callId: string;
  /** The working directory of the task. Absolute. */
  readonly cwd: string;
  /** Aborts when the task is stopped or the call exceeds its time. The tool must end soon after. */
  readonly signal: AbortSignal;
  /** Shows a line to people who watch the task. */
  progress(line: string): void;
  /**
   * Returns the absolute path without links of a path that `access` has named, as it was when the call was allowed. Throws
   * MusterError `PERMISSION_DENIED` for other paths.
   */
  resolve(path: string): string;
}

/** The result of a tool of a program. */
export interface ProgramToolResult {
  /** The text for the model. A long text is kept in a file, and the model gets its beginning and end. */
  readonly text: string;
  /** Images (PNG, JPEG, GIF, WebP) and PDF documents for the model. Default: none. */
  readonly images?: readonly Uint8Array[];
  /** True if the call failed. Default: false. */
  readonly isError?: boolean;
}

/** A tool of a program, in the form from which Muster makes one of its own tools. */
export interface ProgramTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  parse(input: JsonValue): ValidationResult<unknown>;
  /** `none`: the calls touch nothing. Undefined: nothing is known, so a person is asked. */
  readonly access: ProgramToolAccess | 'none' | undefined;
  /** Default: `pure` if the calls only read, otherwise `opaque`. */
  readonly replay?: ReplayClass;
  run(input: unknown, context: ProgramToolContext): Promise<ProgramToolResult>;
}
