import type { TaskWorkspace } from './workspace.ts';
import type { WorkspaceInUse } from './workspace-paths.ts';
import type { CleanupResult } from '../base/cleanup-result.ts';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Clock } from '../base/clock.ts';
import type { ErrorCode } from '../base/errors.ts';
import type {
  CodeAnswer,
  CodeAnswerText,
  CodeProblem,
  CodeQuestion,
  NamedSymbol,
  RenamePlan,
} from './languages.ts';
import type { Attachment, AttachPort } from './attachment.ts';
import type { ServerPort } from './server-message.ts';
import type { MemoryPort } from './memory.ts';
import type { Access } from './permission.ts';
import type { ProposedEdit } from './question.ts';
import type { CitedPage, SearchDomains, WebPort } from './web.ts';

/** The kind of effect of a tool. Permissions and scheduling depend on it. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'network' | 'delegate' | 'meta';

/**
 * The treatment of a call without a recorded outcome after a crash. `pure`: the call runs again. `checkable`: the state of
 * the files is compared with the state that the call should have produced. `keyed`: the call runs again with the same
 * call id, by which its effect is recognized. `opaque`: the call is not run again, and the model is informed.
 */
export type ReplayClass = 'pure' | 'checkable' | 'keyed' | 'opaque';

/** The result of checking the arguments of a call. */
export type ValidationResult<I> =
  | {
      readonly ok: true;
      readonly input: I;
      /** The corrections of the arguments, one sentence each, which are added to the result. Default: none. */
      readonly notes?: readonly string[];
    }
  /** `issues`: one sentence for each problem, with the field, the problem, and what is valid. */
  | { readonly ok: false; readonly issues: readonly string[] };

/**
 * A tool. `parse` checks the arguments of a call, `describe` describes the access that the call needs, policy decides, and
 * `run` performs the call. `run` reports every expected problem as an output with `error`. An exception is a bug, which the
 * model sees as INTERNAL_ERROR. When `context.signal` aborts, `run` must return soon and leave nothing running.
 */
export interface Tool<I = never> {
  readonly name: string;
  readonly kind: ToolKind;
  /** The treatment of an interrupted call after a crash. */
  readonly replay: ReplayClass;
  /**
   * Returns true if a call waits for other tasks. Such a call takes no slot, and the limit `tool_seconds` does not apply to
   * it. Default: no call waits for other tasks.
   */
  waits?(input: I): boolean;
  /**
   * True if the results contain only Muster's words, and every quotation in them is escaped. Default: false, so that
   * requests mark the results as outside text.
   */
  readonly ownWords?: boolean;
  /** A short description for the model. */
  readonly description: string;
  /** The hints of an MCP server about its tool, for the question to a person. They never decide. Absent for other tools. */
  readonly serverSays?: string;
  /** The JSON Schema of the input, which is an object. */
  readonly inputSchema: JsonObject;
  /**
   * The grammar, in the syntax of Lark, of the tool's only argument, for models that write such an argument as free text
   * instead of JSON. Default: every model writes JSON.
   */
  readonly grammar?: string;
  /** Checks and converts the arguments of a call. The other functions get the returned `input`. */
  parse(input: JsonValue): ValidationResult<I>;
  /** Describes the access that a call needs. Pure: it does not read the disk. Default: the access counts as `execute`. */
  describe?(input: I, at: { readonly cwd: string }): Access;
  /** Returns the text changes that a call would make, for the question to a person. Pure: it does not read the disk. */
  proposes?(input: I, at: { readonly cwd: string }): readonly ProposedEdit[];
  run(input: I, context: ToolContext): Promise<ToolOutput>;
  /**
   * Plans the changes of a call that has to ask a server which files it changes. Absent if `describe` knows the files of
   * every call.
   */
  readonly changePlan?: {
    isNeeded(input: I): boolean;
    /** Finds the changes. Changes nothing. */
    make(input: I, context: PlanContext): Promise<ChangePlan>;
  };
  /**
   * Waits for work that a call has started in a server, in this process or in an earlier one. When the signal aborts, the
   * work is cancelled, unless the reason is `LEAVE_RUNNING`. Absent if the tool starts no such work.
   */
  follow?(reference: JsonObject, context: FollowContext): Promise<RemoteOutcome>;
}

/** A tool with any input type, for lists of tools. Its functions get only inputs that its own `parse` has returned. */
// oxlint-disable-next-line typescript/no-explicit-any -- the one place where the input type is erased
export type AnyTool = Tool<any>;

/** The context in which the changes of a call are planned. */
export type PlanContext = Pick<ToolContext, 'cwd' | 'code' | 'taskId' | 'callId' | 'signal'>;

/** The planned changes of a call, or the reason why there are none. */
export type ChangePlan =
  | {
      readonly ok: true;
      /** The tool that makes the changes. It has the name of the tool of the call. */
      readonly tool: AnyTool;
      /** The input for this tool. */
      readonly input: unknown;
      /** The files that are changed. */
      readonly access: Access;
    }
  /** `text`: a sentence for the model. */
  | { readonly ok: false; readonly text: string; readonly error: ErrorCode };

/** Asks language servers. */
export interface CodePort {
  answer(question: CodeQuestion): Promise<CodeAnswer>;
  listProblems(path: string): Promise<CodeAnswerText | CodeProblem>;
  planRename(symbol: NamedSymbol & { readonly newName: string }): Promise<RenamePlan>;
}

/**
 * The change of one file by a call. `before` and `after`: SHA-256 in hex; null means that the file does not exist. Changes
 * by commands also have other values: `unknown:`, `stat:`, `link:` or `special:` and a text, for files whose content is not
 * hashed.
 */
export interface FileChange {
  /** The absolute path. */
  readonly path: string;
  /** The hash of the content before the change; null: there was no file. */
  readonly before: string | null;
  /** The hash of the content after the change; null: there is no file. */
  readonly after: string | null;
  /** The permission bits of the previous file. Set if the file no longer exists, or if a command changed the bits. */
  readonly mode?: number;
  /** The new permission bits. Set if a command changed them. */
  readonly newMode?: number;
  /** The previous path of a moved file. The task knows its content only if it knew the content under that path. */
  readonly movedFrom?: string;
  /** Set if the file got content that the task has not read. The task then does not know the content of the file. */
  readonly unread?: true;
  /** Set if a command made the change. The task has then not read the file again. */
  readonly byCommand?: true;
  /** Set if other commands ran at the same time, so that one of them may have made the change. */
  readonly shared?: true;
  /**
   * The time, in milliseconds since the epoch, at which the first part of the change was found. Set for shared
   * changes, and for a command in the background, whose changes are recorded when it ends.
   */
  readonly since?: number;
  /** The time at which the last part of the change was found. Set together with `since`. */
  readonly until?: number;
}

/** Changes by commands that are not listed one by one. */
export interface UnlistedChanges {
  /** The absolute path of a directory. */
  readonly path: string;
  /**
   * `dependencies`: it holds dependencies or a cache. `names`: it holds names that are not valid UTF-8. `untracked`: its
   * changes are not known. `limit`: there were too many changes in it.
   */
  readonly reason: 'dependencies' | 'names' | 'untracked' | 'limit';
  /** The number of changes. Set for `limit`. */
  readonly count?: number;
  /** The limit that was reached, as a clause. Set for `untracked`. */
  readonly detail?: string;
}

/** Processes that a command left running, and that were stopped with it. */
export interface LeftProcesses {
  /** The number of processes. */
  readonly count: number;
  /** The command lines of the first processes, shortened. */
  readonly commands: readonly string[];
}

/** The changes that a command has made in the roots of its task. */
export interface CommandChanges {
  readonly changed: readonly FileChange[];
  readonly unlisted: readonly UnlistedChanges[];
}

/** Observes the changes of one running command. */
export interface CommandObservation {
  /** Finds the changes so far, so that their times are known. */
  checkpoint(): Promise<void>;
  /** Ends the observation. Resolves to all changes since it began. */
  end(): Promise<CommandChanges>;
  /** Ends the observation without a result. May also be called after `end`. */
  cancel(): void;
}

/** Observes what commands change. */
export interface ChangePort {
  /** Starts to look at the files of the roots, so that `begin` has to wait less. */
  prepare(): void;
  /** Begins to observe a command that is about to start. */
  begin(options: { readonly inBackground: boolean }): Promise<CommandObservation>;
}

/** A file that a task has read, with the SHA-256 of its content in hex. */
export interface FileSeen {
  /** The absolute path. */
  readonly path: string;
  /** The SHA-256 of the content in hex. */
  readonly hash: string;
}

/** A command that has run in a task. */
export interface CommandRun {
  /** The command line. */
  readonly command: string;
  /** The exit code; null if a signal ended the command. */
  readonly exitCode: number | null;
  /** The processes that it left running. Absent if there were none. */
  readonly left?: LeftProcesses;
}

/** The actions of a call, as recorded by Muster and not by the model. The log and the receipt contain them. */
export interface CallDetails {
  /** The files whose content the call returned. Default: none. */
  readonly read?: readonly FileSeen[];
  /** The changed files. An empty list, if the call ran a command, means that the command is known to have changed none. */
  readonly changed?: readonly FileChange[];
  /** Changes by commands that are not listed one by one. Default: none. */
  readonly unlisted?: readonly UnlistedChanges[];
  /** The commands that the call ran. Default: none. */
  readonly commands?: readonly CommandRun[];
  /** The variables that the call set for later commands of the task, by name; null: the variable was removed. */
  readonly variables?: Readonly<Record<string, string | null>>;
  /** The name of the skill whose instructions the call returned. */
  readonly skill?: string;
  /** The limit because of which the call was refused. Set if the task ends when it repeats the attempt. */
  readonly refusedBy?: { readonly limit: string; readonly value: number; readonly used: number };
}

export interface ToolOutput {
  /** The result for the model, within the limits of the tool. */
  readonly text: string;
  /** The code of the error. Set if the call failed; `text` then says what happened and what to do. */
  readonly error?: ErrorCode;
  /** The actions of the call. Default: none. */
  readonly facts?: CallDetails;
  /** The attachments that `ToolContext.attach` has accepted. They are sent to the model with the text. */
  readonly attachments?: readonly Attachment[];
  /**
   * True if `text` contains instructions from a file that the user trusts. It is then not marked as outside text.
   */
  readonly isInstruction?: boolean;
  /** True if `text` contains text from outside, although the tool's own words make up the rest of it. */
  readonly hasOutsideText?: boolean;
  /** True if a program of the call did not stop when requested, and was killed. */
  readonly forced?: boolean;
  /** The ids of queued inputs that are withdrawn, because `text` contains their content. */
  readonly told?: readonly string[];
}

/** The state of a path when the permission decision about the call was made. */
export interface JudgedPath {
  /** The absolute path with all links resolved. If the path leads elsewhere now, it is not opened. */
  readonly real: string;
  /** True if a person allowed the file although it has other names (hard links), which may be outside the roots. */
  readonly mayHaveOtherNames: boolean;
}

/**
 * Returns the rule that excludes a path; undefined: no rule excludes it. `path`: relative to a directory and with `/`; the
 * path of a directory ends with `/`.
 */
export type PathExclusion = (path: string) => string | undefined;

/** The files that a call may open, according to the permission decision. */
export interface FileAccess {
  /** The directories that may be opened with everything in them, as absolute real paths. */
  readonly roots: readonly string[];
  /** The paths that were decided about, by the absolute path that the call requested. */
  readonly judged: ReadonlyMap<string, JudgedPath>;
  /**
   * Returns a test for the paths below a directory that rules exclude, although the call was allowed for the directory;
   * null: no rule excludes a path. `asked`: the absolute path that the call requested; `real`: the same path with all
   * links resolved.
   */
  excludedPathsBelow(directory: {
    readonly asked: string;
    readonly real: string;
  }): PathExclusion | null;
  /**
   * Describes the rules behind `excludedPathsBelow`: calls with equal texts get equal tests. If it is absent, results of the
   * call are not shared with other calls.
   */
  readonly exclusionsKey?: string;
}

/**
 * The context of a call: the ports that a tool may use. They do not depend on the engine, so that tools can be tested
 * without it.
 */
export interface ToolContext extends FileAccess {
  readonly taskId: string;
  readonly callId: string;
  readonly cwd: string;
  /** The workspace in which the task works. Default: none. */
  readonly workspace?: WorkspaceInUse | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly caps: ToolCaps;
  readonly files: FileMemory;
  readonly todos: TodoStore;
  /** The notes that the task may use. Absent if the task has no notes. */
  readonly memory?: MemoryPort;
  readonly shells: ShellPort;
  /** Follows work of servers. Absent where no such work may go on after its call. */
  readonly remote?: RemotePort;
  readonly sandbox: SandboxPort;
  /** Observes what commands change. Absent if their changes are not recorded. */
  readonly changes?: ChangePort;
  readonly variables: VariablePort;
  /**
   * Stores the content of a file, so that a rewind can restore it. Must be called before a tool changes or deletes the
   * file. Resolves when the content is stored durably. Absent if contents are not stored.
   */
  keepFormer?(bytes: Buffer): Promise<void>;
  /** Resolves after `ms` milliseconds. Rejects with the reason of `signal` as soon as it aborts. */
  sleep(ms: number): Promise<void>;
  /** Creates the file for large output next to the log at the first call, with mode 0600, and returns its path. */
  spillPath(): string;
  /**
   * Saves an output that is too large for a result in that file, and returns a phrase as `spillText` does. Set only where
   * another process has to do it. Default: the process of the tool does it.
   */
  saveText?(text: string): string;
  /** Creates a filter that removes secrets from the output in that file. Default: the output is not filtered. */
  redactBytes?(): ByteFilter;
  /** Sends requests to the web with the rights of the task. Absent where nothing may use the network. */
  readonly web?: WebPort;
  /**
   * Asks a small model a question, apart from the conversation and within the budget of the task. Rejects when the call
   * is stopped. Absent where no model can be asked.
   */
  askModel?(question: QuestionToModel): Promise<ModelAnswerToCall>;
  /** Asks language servers with the roots of the task. Absent where there are none. */
  readonly code?: CodePort;
  /** Lets the MCP server of the call speak to the user. Absent for other tools. */
  readonly server?: ServerPort;
  /** The editor of the user. Absent if there is none, and in workspaces, whose files no editor has open. */
  readonly editor?: EditorPort;
  /** Adds images and documents to the result. Absent if the result cannot have attachments. */
  readonly attach?: AttachPort;
  /**
   * Displays a line to people who watch the task. The line may be dropped. `lines`: the last lines of the output so far,
   * if the call has an output.
   */
  progress(line: string, lines?: readonly string[]): void;
}

/** The files that the user has open in an editor. */
export interface EditorPort {
  /**
   * Resolves to the text that the editor has for a file, which need not be saved; null: the editor does not serve the file or does
   * not answer. `path`: absolute, without links.
   */
  read(path: string, signal: AbortSignal): Promise<string | null>;
  /** Gives the editor a new text for a file, and has it save the text. Rejects if it cannot. Absent if it only reads. */
  write?(path: string, text: string, signal: AbortSignal): Promise<void>;
}

/** A question that a call asks a model apart from the conversation. */
export interface QuestionToModel {
  /** The system prompt. */
  readonly system: string;
  readonly prompt: string;
  /** The purpose, for people who watch the task: a phrase such as `answer from https://example.org/`. */
  readonly purpose: string;
  /** Lets the provider search the web for the answer, in the given domains. Default: it does not search. */
  readonly webSearch?: SearchDomains;
}

/** The answer to a `QuestionToModel`, or the reason why there is none, as a clause. */
export type ModelAnswerToCall =
  | {
      readonly ok: true;
      readonly text: string;
      /** The pages that the provider found. Empty if it did not search. */
      readonly sources: readonly CitedPage[];
    }
  | { readonly ok: false; readonly problem: string };

/** Filters a stream of bytes. `write` may hold bytes back; `end` returns the bytes that were held back. */
export interface ByteFilter {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** A filter that changes nothing. */
export const PASS_THROUGH_FILTER: ByteFilter = {
  write: (chunk) => chunk,
  end: () => Buffer.alloc(0),
};

/** The sandbox for the commands of a call. */
export interface SandboxPort {
  /** The processor time of each process of a command, in seconds (`process.cpu_seconds`). Default: no limit. */
  readonly cpuSeconds?: number;
  /**
   * Prepares a command for its start in `cwd` (an absolute real path). It is confined as the decision about the call
   * requires, or not at all if the machine has no sandbox. `serves`: true if later commands of the task can reach servers
   * that this command starts.
   */
  confine(
    argv: readonly [string, ...string[]],
    options: {
      readonly cwd: string;
      readonly serves: boolean;
      /** The command line, if `argv` starts a shell with it. Absent if it is not known. */
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
  /** The confinement of the command; null: the command is not confined. */
  readonly held: CommandLimits | null;
  /** The maximum number of processes and threads of the command at a time; 0: no limit. */
  readonly maxProcesses: number;
  /** Moves files that the command must not create into quarantine. Call it after the command, and regularly while it runs. */
  settle(): Promise<CleanupResult>;
  /** Frees the resources. Must be called when no process of the command is running any more. Further calls do nothing. */
  release(): void;
}

/** The confinement of a command by the sandbox. */
export interface CommandLimits {
  /** `workspace`: the command can write in the roots. */
  readonly access: 'read-only' | 'workspace';
  readonly network: boolean;
  /** True if the started process is a monitor outside the sandbox, which reports about the command on stderr. */
  readonly monitored: boolean;
  /** The workspace in which the task works. Default: none. */
  readonly workspace?: Pick<TaskWorkspace, 'source' | 'tree'>;
}

/** The environment variables of the commands of a task. */
export interface VariablePort {
  /** Returns the variables for the next command of the task, except those that Muster sets for git, pagers and itself. */
  seen(): Readonly<Record<string, string>>;
  /** Returns the names of the variables that the task has set. */
  own(): ReadonlySet<string>;
  /** Returns true if the log stores a value unchanged. Otherwise a part of the value is redacted as a secret. */
  keeps(value: string): boolean;
}

/** The abort reason after which a server goes on with its work, so that a later process can find it again. */
export const LEAVE_RUNNING = 'leave running';

/** The context in which a tool waits for work of a server. */
export interface FollowContext extends Pick<ToolContext, 'signal' | 'taskId' | 'workspace'> {
  /** The port through which the server asks the user, also after the call has ended. Absent if nobody can be asked. */
  readonly server?: ServerPort;
  /** Returns the port for the images of the result. Undefined if the call no longer waits for the result. */
  getAttachPort(): AttachPort | undefined;
  /** Reports a new state of the work, for people and the model. */
  report(line: string): void;
}

/** The outcome of work of a server. */
export interface RemoteOutcome {
  readonly output: ToolOutput;
  /** True if it is not known what the work has done. */
  readonly isLost: boolean;
}

/** Work that a server does by itself, so that it goes on when Muster ends, and is found again by its reference. */
export interface RemoteWork {
  /** The call, for people: the name of the tool and the arguments. */
  readonly title: string;
  /** The fields by which `Tool.follow` finds the work again. The log contains them. */
  readonly reference: JsonObject;
  /** True if the call shall not wait for the result. */
  readonly inBackground: boolean;
}

/** Follows work that a call has started in a server. The work has an id of the form of task ids. */
export interface RemotePort {
  /**
   * Follows the work. Resolves with its output, or, if it takes long, with the report that it goes on in the background.
   */
  follow(work: RemoteWork): Promise<ToolOutput>;
}

/** Starts shells: commands that continue to run after the end of their call. The ids of shells have the form of task ids. */
export interface ShellPort {
  /** Starts a shell. Resolves when the shell runs. Rejects with a MusterError, whose message is for the model. */
  start(work: ShellWork): Promise<StartedShell>;
}

/** A command that will run as a shell of the task. */
export interface ShellWork {
  /** The command as the model wrote it. If the call names a directory, the command begins with a `cd` to this directory. */
  readonly command: string;
  /**
   * Starts the command, and passes its output to `write`. Ends the command when the signal aborts. Resolves when the
   * command runs. Rejects with a MusterError if the command cannot be started; none of its processes then remains.
   */
  begin(write: (chunk: Buffer) => void, signal: AbortSignal): Promise<BegunShell>;
}

/** The running command of a shell. */
export interface BegunShell {
  /** Resolves when no process of the command is running any more. A rejection is a bug: the shell then counts as lost. */
  readonly ended: Promise<ShellExit>;
}

/** The end of a shell. */
export interface ShellExit {
  /**
   * `exited`: the command ended by itself. `stopped`: it stopped when requested. `killed`: it did not, and was killed.
   * `process_limit`: it was killed, because it had too many processes. `lost`: its end was not observed.
   */
  readonly how: 'exited' | 'stopped' | 'killed' | 'process_limit' | 'lost';
  /** The exit code; null if a signal ended the command. */
  readonly exitCode: number | null;
  /** The changes by the command. Absent if they are not known. */
  readonly changes?: CommandChanges;
  /** The processes that the command left running. Absent if there were none. */
  readonly left?: LeftProcesses;
}

/** A started shell. */
export interface StartedShell {
  readonly id: string;
  /** The path of the file to which its output is written. */
  readonly output: string;
}

/** The limits of tools, from the configuration tables `[output]` and `[liveness]`. */
export interface ToolCaps {
  /** The maximum size of a result. */
  readonly resultBytes: number;
  /** The maximum number of bytes that one call of Read returns. */
  readonly readBytes: number;
  /** The maximum size of a file for large output. */
  readonly spillBytes: number;
  /** The time limit of a call. */
  readonly toolMs: number;
}

/** Remembers the files that a task has read, so that an edit of an unread or changed file is refused. */
export interface FileMemory {
  /** Returns the hash of a file when the task last read or wrote it; undefined: the task does not know the file. */
  seen(path: string): string | undefined;
  /** Records that the task has read this content of a file. `path`: a real path, as for the other methods. */
  remember(path: string, hash: string): void;
  /** Must be called before the task writes this content, because other tasks may see the content at once. */
  willWrite(path: string, hash: string): void;
  /** Must be called before the task deletes or moves a file. */
  willRemove(path: string): void;
  /** Returns the other task of the tree that wrote this content last, as `task ID (AGENT)`; undefined: there is none. */
  changedBy(path: string, hash: string): string | undefined;
  /** Returns the other task of the tree that deleted or moved the file, as `task ID (AGENT)`; undefined: there is none. */
  removedBy(path: string): string | undefined;
  /** Records that the task was informed about the removal. Returns false if it was informed before, or never knew the file. */
  acceptRemoval(path: string): boolean;
}

/** One item of the list of todos of a task. */
export interface TodoItem {
  /** The work to do, in one line. */
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface TodoStore {
  get(): readonly TodoItem[];
  set(items: readonly TodoItem[]): void;
}
