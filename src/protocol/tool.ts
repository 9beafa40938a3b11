import type { CleanupResult } from '../base/cleanup-result.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Clock } from '../base/clock.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { Attachment, AttachPort } from './attachment.ts';
import type { MemoryPort } from './memory.ts';
import type { Access } from './permission.ts';
import type { ProposedEdit } from './question.ts';

/** The kind of effect that a tool has. Permissions and scheduling depend on it. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'network' | 'delegate' | 'meta';

/**
 * The treatment of a call that has no recorded outcome after a crash. `pure`: it runs again. `checkable`: the present
 * state is compared with the one that it should have reached. `keyed`: it runs again with the same key. `opaque`: it
 * never runs again by itself.
 */
export type ReplayClass = 'pure' | 'checkable' | 'keyed' | 'opaque';

/** The result of checking the arguments of a call. */
export type ValidationResult<I> =
  | {
      readonly ok: true;
      readonly input: I;
      /** Corrections that made the call possible, one sentence each, which its result mentions. Default: none. */
      readonly notes?: readonly string[];
    }
  /** Each issue is a sentence: the field, the problem, and what is valid. */
  | { readonly ok: false; readonly issues: readonly string[] };

/**
 * A tool. `parse`, `describe` and `run` get the same parsed input. `describe` is pure and never reads the disk. `run`
 * reports a problem outside as an output with `error`. If it throws, that is a bug, which the model gets as
 * INTERNAL_ERROR. It must stop soon after `context.signal` aborts and leave nothing running.
 */
export interface Tool<I = never> {
  readonly name: string;
  readonly kind: ToolKind;
  readonly replay: ReplayClass;
  /**
   * Tells whether a call waits for other tasks. Such a call takes no slot, and `tool_seconds` does not apply to it.
   * Default: no call does.
   */
  waits?(input: I): boolean;
  /**
   * True if its results are Muster's own text in which every quotation is escaped. Default: false. Results then
   * count as outside text and are marked as such in requests.
   */
  readonly ownWords?: boolean;
  /** A short description for the model. */
  readonly description: string;
  /** The JSON Schema of the input, which is an object. */
  readonly inputSchema: JsonObject;
  parse(input: JsonValue): ValidationResult<I>;
  /** Describes the access of a call. Default: unknown access, which counts as `execute`. */
  describe?(input: I, at: { readonly cwd: string }): Access;
  /** Returns the changes of text that a call would make, for a person who is asked about it. Pure. */
  proposes?(input: I, at: { readonly cwd: string }): readonly ProposedEdit[];
  run(input: I, context: ToolContext): Promise<ToolOutput>;
}

/** A tool with any input type, for lists of tools. Its input always comes from its own `parse`. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where the input type is erased
export type AnyTool = Tool<any>;

/** A change of one file, for the receipt. Hashes are SHA-256 in hex; null means that the file does not exist. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits of the previous file, if it no longer exists. */
  readonly mode?: number;
  /** The previous path of a file that was moved. The task knows its content only if it knew it there. */
  readonly movedFrom?: string;
  /** Set if the file got content that the task has not read, so that the task does not know its content. */
  readonly unread?: true;
}

export interface FileSeen {
  readonly path: string;
  readonly hash: string;
}

export interface CommandRun {
  readonly command: string;
  /** The exit code, or null if a signal ended the command. */
  readonly exitCode: number | null;
}

/** The actions of a call, as recorded by Muster and not by the model. */
export interface CallDetails {
  readonly read?: readonly FileSeen[];
  readonly changed?: readonly FileChange[];
  readonly commands?: readonly CommandRun[];
  /** Variables that were set for later commands of the task, by name; null if a variable was removed. */
  readonly variables?: Readonly<Record<string, string | null>>;
  /** The name of the skill whose instructions it returned. */
  readonly skill?: string;
  /** The limit that refused it, if a task that repeats the attempt is ended. */
  readonly refusedBy?: { readonly limit: string; readonly value: number; readonly used: number };
}

export interface ToolOutput {
  /** The result for the model, within the limits of the tool. */
  readonly text: string;
  /** Set if the call failed. `text` then says what happened and what to do. */
  readonly error?: ErrorCode;
  readonly facts?: CallDetails;
  /** Attachments that `ToolContext.attach` has accepted, which are shown with the text. */
  readonly attachments?: readonly Attachment[];
  /**
   * True if `text` contains instructions of the user from a file that the user trusts. It is then sent like
   * Muster's own text.
   */
  readonly isInstruction?: boolean;
  /** True if a program that it ran did not stop when requested, and was killed. */
  readonly forced?: boolean;
  /** Ids of inputs that need not be sent any more, because `text` contains their content. */
  readonly told?: readonly string[];
}

/** The decision about a path at the time of the permission decision about the call. */
export interface JudgedPath {
  /** The absolute path that it led to. If it leads elsewhere now, it is not opened. */
  readonly real: string;
  /** True if a person allowed the file although it has other names (hard links), which may lie outside the roots. */
  readonly mayHaveOtherNames: boolean;
}

/**
 * Returns the rule that excludes a path below a directory; undefined if none does. The path is relative, with `/`,
 * and that of a directory ends with one.
 */
export type PathExclusion = (path: string) => string | undefined;

/** The files that a call may open, according to the permission decision. */
export interface FileAccess {
  /** Absolute real paths that files must lie in. */
  readonly roots: readonly string[];
  /** The decisions by absolute path, as the call requested it. */
  readonly judged: ReadonlyMap<string, JudgedPath>;
  /**
   * Returns a test for the paths that rules exclude from a call that was allowed for the full directory; null if rules
   * exclude none. Both paths are absolute.
   */
  excludedPathsBelow(directory: {
    readonly asked: string;
    readonly real: string;
  }): PathExclusion | null;
}

/**
 * The context of a call: the ports that a tool may use. No part belongs to the engine, so tools can be tested
 * alone.
 */
export interface ToolContext extends FileAccess {
  readonly taskId: string;
  readonly callId: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly caps: ToolCaps;
  readonly files: FileMemory;
  readonly todos: TodoStore;
  /** Absent if there are no notes. */
  readonly memory?: MemoryPort;
  readonly shells: ShellPort;
  readonly sandbox: SandboxPort;
  readonly variables: VariablePort;
  /**
   * Stores the content of a file so that it can be restored. Must be called before the last copy is changed or
   * deleted. Resolves when the content is stored durably. Absent if nothing is stored.
   */
  keepFormer?(bytes: Buffer): Promise<void>;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number): Promise<void>;
  /** Returns the path of a file next to the log for large output. It is created at the first use, with mode 0600. */
  spillPath(): string;
  /** Creates a filter that removes secrets from the content of that file. Default: the content is not filtered. */
  redactBytes?(): ByteFilter;
  /** Shows images and documents to the model. Absent if that is not possible. */
  readonly attach?: AttachPort;
  /** Shows a line to people who watch the task. It may be dropped. */
  progress(line: string): void;
}

/** Filters a stream of bytes. `end` returns the bytes that were held back. */
export interface ByteFilter {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** A filter that changes nothing. */
export const KEEP_BYTES: ByteFilter = { write: (chunk) => chunk, end: () => Buffer.alloc(0) };

/** The sandbox for the commands of a call. */
export interface SandboxPort {
  /**
   * Returns how to start a command in `cwd` (absolute, real) with the confinement of this call; without one if this
   * machine has no sandbox. `serves`: later commands of the task can reach its servers while it runs.
   */
  confine(
    argv: readonly [string, ...string[]],
    options: {
      readonly cwd: string;
      readonly serves: boolean;
      /** The command line that a shell in the arguments runs. Absent if it is not known. */
      readonly line?: string;
    },
  ): Promise<CommandToStart>;
}

/** The program, arguments and environment that start a command. */
export interface CommandToStart {
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The confinement of the command; null if it is not confined. */
  readonly held: CommandLimits | null;
  /** Quarantines files that it must not create. Call it when the command has ended, and sometimes while it runs. */
  settle(): Promise<CleanupResult>;
  /** Must be called when no process of the command is left. Further calls do nothing. */
  release(): void;
}

/** The confinement of a command by the sandbox. */
export interface CommandLimits {
  /** `workspace`: it can write in the roots. */
  readonly access: 'read-only' | 'workspace';
  readonly network: boolean;
  /** True if the started process stays outside the sandbox and reports about the command on stderr. */
  readonly monitored: boolean;
}

/** The environment variables of the commands of a task. */
export interface VariablePort {
  /** Returns the variables for its next command, except those that Muster sets for git, pagers and itself. */
  seen(): Readonly<Record<string, string>>;
  /** Returns the names of the variables that the task has set itself. */
  own(): ReadonlySet<string>;
  /** Tells whether the log stores a value unchanged. It does not if a part is redacted as a secret. */
  keeps(value: string): boolean;
}

/** Starts commands that continue after their call: the shells of the task. Their ids look like those of tasks. */
export interface ShellPort {
  /** Resolves when the shell runs. Rejects with a MusterError for the model. */
  start(work: ShellWork): Promise<StartedShell>;
}

/** A command that is to run as a shell of the task. */
export interface ShellWork {
  /** The command as the model wrote it, after a `cd` to the directory that the call names. */
  readonly command: string;
  /**
   * Starts the command, and passes its output to `write`. It is ended when the signal aborts. Resolves when it runs.
   * Rejects with a MusterError if it cannot be started; none of its processes is then left.
   */
  begin(write: (chunk: Buffer) => void, signal: AbortSignal): Promise<BegunShell>;
}

/** A running command. */
export interface BegunShell {
  /** Resolves when no process of it is left. A rejection is a bug, and the end then counts as lost. */
  readonly ended: Promise<ShellExit>;
}

/** The end of a shell. */
export interface ShellExit {
  /** `exited`: it ended by itself. `stopped`: it stopped when requested. `killed`: it did not stop when requested. */
  readonly how: 'exited' | 'stopped' | 'killed';
  /** The exit code, or null if a signal ended the command. */
  readonly exitCode: number | null;
}

/** A shell that has been started. */
export interface StartedShell {
  readonly id: string;
  /** Path of the file in which its output grows. */
  readonly output: string;
}

/** The limits of tools from the configuration tables `[output]` and `[liveness]`, in bytes and milliseconds. */
export interface ToolCaps {
  readonly resultBytes: number;
  readonly readBytes: number;
  readonly spillBytes: number;
  readonly toolMs: number;
}

/** The files that a task has read, so that an edit of a file that it has not read, or that has changed, is refused. */
export interface FileMemory {
  /** Returns the hash at the task's last read or write of a real path. */
  seen(path: string): string | undefined;
  remember(path: string, hash: string): void;
  /** Must be called before the task writes this content to a real path, because other tasks may see it at once. */
  willWrite(path: string, hash: string): void;
  /** Must be called before the task deletes or moves a file. */
  willRemove(path: string): void;
  /** Returns the other task of the tree that left the file with this hash, as `task ID (AGENT)`. */
  changedBy(path: string, hash: string): string | undefined;
  /** Returns the other task of the tree that deleted or moved a file. */
  removedBy(path: string): string | undefined;
  /** Records that the task was informed of the removal. Returns false if it was already, or never knew the file. */
  acceptRemoval(path: string): boolean;
}

export interface TodoItem {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface TodoStore {
  get(): readonly TodoItem[];
  set(items: readonly TodoItem[]): void;
}
