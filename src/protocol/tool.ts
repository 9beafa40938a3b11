import type { CleanupResult } from '../base/cleanup-result.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Clock } from '../base/clock.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { Attachment, AttachPort } from './attachment.ts';
import type { MemoryPort } from './memory.ts';
import type { Access } from './permission.ts';
import type { ProposedEdit } from './question.ts';

/** What a tool does to the world; policy and scheduling judge by it. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'network' | 'delegate' | 'meta';

/**
 * What may be done with a call that has no recorded outcome after a crash: `pure` calls run again;
 * `checkable` ones are compared with the state they meant to reach; `keyed` ones run again under the
 * same key; `opaque` ones never run again by themselves.
 */
export type ReplayClass = 'pure' | 'checkable' | 'keyed' | 'opaque';

export type ValidationResult<I> =
  | {
      readonly ok: true;
      readonly input: I;
      /** What was changed to make the call possible, a sentence each, for its result. Absent: nothing. */
      readonly notes?: readonly string[];
    }
  /** One sentence an issue: field, what is wrong, what is valid. */
  | { readonly ok: false; readonly issues: readonly string[] };

/**
 * A tool. `parse`, `describe` and `run` see the same parsed input. `describe` is pure and never
 * touches the disk. `run` must not throw for what can go wrong outside (that is an output with
 * `error`); a throw is a bug and reaches the model as INTERNAL_ERROR. It must stop soon after
 * `context.signal` aborts, with nothing left running.
 */
export interface Tool<I = never> {
  readonly name: string;
  readonly kind: ToolKind;
  readonly replay: ReplayClass;
  /**
   * Whether a call waits for others: then it holds no slot, and `tool_seconds` does not count. Default:
   * none does.
   */
  waits?(input: I): boolean;
  /**
   * Its results are Muster's own words, and what they quote is escaped. Default false: they hold
   * outside text, and are marked as such wherever they stand in a request.
   */
  readonly ownWords?: boolean;
  /** For the model: short. */
  readonly description: string;
  /** JSON Schema of the input, an object schema. */
  readonly inputSchema: JsonObject;
  parse(input: JsonValue): ValidationResult<I>;
  /** Absent: unknown access, judged as `execute`. */
  describe?(input: I, at: { readonly cwd: string }): Access;
  /** The changes of text that a call would make, for a person who is asked about it. Pure, too. */
  proposes?(input: I, at: { readonly cwd: string }): readonly ProposedEdit[];
  run(input: I, context: ToolContext): Promise<ToolOutput>;
}

/** A tool of any input: how registries hold them (`I` is only ever fed by the tool's own `parse`). */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where the input type is erased
export type AnyTool = Tool<any>;

/** A change to one file, for the receipt. Hashes are sha256 hex; null: it was not there. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits of what was there before, where that file itself is gone. */
  readonly mode?: number;
  /** It was not written but moved from there: the task knows its content only if it knew that file's. */
  readonly movedFrom?: string;
  /** Set: something was put into it that the task has not read, so that it doesn't know its content. */
  readonly unread?: true;
}

export interface FileSeen {
  readonly path: string;
  readonly hash: string;
}

export interface CommandRun {
  readonly command: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
}

/** What really happened in a call, counted by Muster and not by the model. */
export interface CallDetails {
  readonly read?: readonly FileSeen[];
  readonly changed?: readonly FileChange[];
  readonly commands?: readonly CommandRun[];
  /** Variables that were set for the later commands of the task, by name; null: taken back. */
  readonly variables?: Readonly<Record<string, string | null>>;
  /** Name of the skill whose instructions it gave. */
  readonly skill?: string;
  /** The limit that it was refused by, where a task that goes on against it is ended. */
  readonly refusedBy?: { readonly limit: string; readonly value: number; readonly used: number };
}

export interface ToolOutput {
  /** What the model gets. Already within the caps of the tool. */
  readonly text: string;
  /** Set: the call failed, and `text` says what happened and what to do. */
  readonly error?: ErrorCode;
  readonly facts?: CallDetails;
  /** What `ToolContext.attach` has let in, to be shown with the text. */
  readonly attachments?: readonly Attachment[];
  /**
   * Set: `text` is what the user has told the model to do, in a file that the user trusts. It stands in a
   * request as words of Muster's own do.
   */
  readonly isInstruction?: boolean;
  /** What it ran did not stop when told, and was killed. */
  readonly forced?: boolean;
  /** Ids of inputs that need not be said any more: their content stands in `text`. */
  readonly told?: readonly string[];
}

/** What was decided about a path when the call was judged. */
export interface JudgedPath {
  /** Where it led, absolute: one that leads elsewhere since is not opened. */
  readonly real: string;
  /** It was a file with other names (hard links), which may lie outside the roots, and a person knew. */
  readonly mayHaveOtherNames: boolean;
}

/** Whether a path below a directory, relative with `/` (a directory's with one at its end), is kept back: by which rule. */
export type PathExclusion = (path: string) => string | undefined;

/** Where a call may open files, as it was judged. */
export interface FileAccess {
  /** Absolute real paths that files must lie in. */
  readonly roots: readonly string[];
  /** By absolute path as the call asked for it. */
  readonly judged: ReadonlyMap<string, JudgedPath>;
  /**
   * What rules keep from a call that was allowed for the directory as a whole; null: nothing. Both
   * absolute.
   */
  excludedPathsBelow(directory: {
    readonly asked: string;
    readonly real: string;
  }): PathExclusion | null;
}

/** The ports a tool gets. Nothing in it belongs to the engine, so that a tool is tested alone. */
export interface ToolContext extends FileAccess {
  readonly taskId: string;
  readonly callId: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly caps: ToolCaps;
  readonly files: FileMemory;
  readonly todos: TodoStore;
  /** Absent: there are none here. */
  readonly memory?: MemoryPort;
  readonly shells: ShellPort;
  readonly sandbox: SandboxPort;
  readonly variables: VariablePort;
  /**
   * To be called before the last copy of what a file holds is changed or deleted, so that it can be put
   * back: resolves once it is kept for good. Absent: nothing is kept.
   */
  keepFormer?(bytes: Buffer): Promise<void>;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number): Promise<void>;
  /** A file beside the log for output too large to keep; created on first use, 0600. */
  spillPath(): string;
  /** What goes into that file passes through one of these. Absent: it is kept as it comes. */
  redactBytes?(): ByteFilter;
  /** Shows images and documents to the model. Absent: nothing can be shown. */
  readonly attach?: AttachPort;
  /** A line for whoever watches; may be dropped. */
  progress(line: string): void;
}

/** Bytes as they are to be kept. What it holds back comes with `end`. */
export interface ByteFilter {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** Keeps bytes as they come. */
export const KEEP_BYTES: ByteFilter = { write: (chunk) => chunk, end: () => Buffer.alloc(0) };

/** Where the commands of a call run. */
export interface SandboxPort {
  /**
   * How a command is to be started in `cwd` (absolute, real), held as this call is to be held; bare
   * where this machine has no sandbox. What `serves` is reached, as long as it runs, by the commands of
   * its task that are started after it.
   */
  confine(
    argv: readonly [string, ...string[]],
    options: {
      readonly cwd: string;
      readonly serves: boolean;
      /** The command line that a shell among the arguments runs; absent: none is known. */
      readonly line?: string;
    },
  ): Promise<CommandToStart>;
}

export interface CommandToStart {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What holds it; null: nothing does. */
  readonly held: CommandLimits | null;
  /** Puts aside what it must not have made; when it has ended, or now and then while it runs. */
  settle(): Promise<CleanupResult>;
  /** Call when nothing of it is left, once or more. */
  release(): void;
}

export interface CommandLimits {
  /** Whether it can write in the roots. */
  readonly access: 'read-only' | 'workspace';
  readonly network: boolean;
  /** The process that is started stands outside, and reports about the command on stderr. */
  readonly monitored: boolean;
}

/** The environment variables of the commands of a task. */
export interface VariablePort {
  /** What its next command sees; without what Muster sets there for git, pagers and itself. */
  seen(): Readonly<Record<string, string>>;
  /** Which of these the task has set itself, by name. */
  own(): ReadonlySet<string>;
  /** Whether its log keeps a value as it is: false for one that holds what is redacted as a secret. */
  keeps(value: string): boolean;
}

/** Commands that go on after their call: shells of the task, with ids as tasks have them. */
export interface ShellPort {
  /** Resolves once it runs. Rejects with a MusterError that is meant for the model. */
  start(work: ShellWork): Promise<StartedShell>;
}

export interface ShellWork {
  /** As the model wrote it, with the directory that the call named as a `cd` in front. */
  readonly command: string;
  /**
   * Resolves once it runs; rejects with a MusterError when it can't be started, and then nothing of
   * it is there. `write` gets what it prints. It is ended when the signal aborts.
   */
  begin(write: (chunk: Buffer) => void, signal: AbortSignal): Promise<BegunShell>;
}

export interface BegunShell {
  /** Resolves when nothing of it is left. A rejection is a bug: its end is then lost. */
  readonly ended: Promise<ShellExit>;
}

export interface ShellExit {
  /** `exited`: by itself; `stopped`: when told; `killed`: it did not stop when told. */
  readonly how: 'exited' | 'stopped' | 'killed';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
}

export interface StartedShell {
  readonly id: string;
  /** Path of the file in which its output grows. */
  readonly output: string;
}

/** From `[output]` and `[liveness]`; bytes and milliseconds. */
export interface ToolCaps {
  readonly resultBytes: number;
  readonly readBytes: number;
  readonly spillBytes: number;
  readonly toolMs: number;
}

/** What a task has read, so that an edit over something unseen or changed since is refused. */
export interface FileMemory {
  /** Hash at the task's last read or write of this real path. */
  seen(path: string): string | undefined;
  remember(path: string, hash: string): void;
  /** Before this task writes that to a real path: others of its tree may see it at once, and whose it is. */
  willWrite(path: string, hash: string): void;
  /** The same before it deletes a file or moves it away. */
  willRemove(path: string): void;
  /** Which other task of the tree left the file with this hash, in words: `task ID (AGENT)`. */
  changedBy(path: string, hash: string): string | undefined;
  /** Which other task of the tree deleted a file that is gone, or moved it away. */
  removedBy(path: string): string | undefined;
  /** Notes that this task was told so. False: it was before, or has never known the file. */
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
