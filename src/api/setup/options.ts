import type { AcceptanceRequest } from '../../protocol/acceptance.ts';
import type { RuleChange } from '../../engine/permissions/change-rules.ts';
import type { JsonObject } from '../../base/json.ts';
import type { QuotedItems } from '../../engine/quote/quote.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { TaskSource } from '../../protocol/task.ts';
import type { EditorPort } from '../../protocol/tool.ts';
import type { Environment } from '../../sys/env.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import type { TrustDecision } from '../../trust/project-trust.ts';
import type { QuestionAnswer } from '../../engine/engine-requests.ts';
import type { RunLimits } from '../../engine/limits/configured-limits.ts';
import type { ProgramParts } from './program-parts.ts';

export interface SessionOptions {
  /** The working directory, which is the first workspace root. Default: the working directory of the process. */
  readonly cwd?: string;
  /** Further workspace roots. Relative paths are relative to `cwd`. */
  readonly addDirs?: readonly string[];
  /** The data directory. Default: `MUSTER_DATA_DIR`, else a directory below the XDG data directory. */
  readonly dataDir?: string;
  /**
   * True if logs are kept, and it is an error if they cannot be. False if nothing is kept after `close`. Default: logs
   * are kept, unless the user's own data directory cannot be written; a notice says so.
   */
  readonly log?: boolean;
  /**
   * Decides which of the project's files (configuration, permissions, agents, skills) have an effect. False: only files
   * that the user has approved with `muster trust add`. True: all files, for this session. A function decides about
   * each file. The decision is not stored. Default: false.
   */
  readonly trustProject?: TrustDecision;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Agent definitions of this session, which take precedence over all others. */
  readonly agents?: readonly AgentDefinition[];
  /**
   * The name of the agent that the first task will have; null if no conversation begins by itself. When the session is
   * opened, the MCP servers are asked for their tools that this agent may use and that were never used before. Default:
   * the main agent, which may use all.
   */
  readonly mainAgent?: string | null;
  /**
   * Set if each new conversation works in a worktree of its own, or in a copy of the directory outside of a repository.
   * `name` is a part of the name of its branch; null for words of the prompt. Default: it works in `cwd`.
   */
  readonly worktree?: { readonly name: string | null };
  /** The turn limit of the main agent. Default: no limit. */
  readonly maxTurns?: number;
  /**
   * The treatment of questions. `deny`: the question is refused at once. `park`: its task is parked, and the run
   * ends when no other task runs. `wait`: the task waits for `Muster.answer` or for an answer from another terminal.
   * Default: `permissions.on_ask`.
   */
  readonly questions?: OnAsk;
  /**
   * True if a person is present and can stop a run that takes too long. The wait for a rate limit is then unlimited,
   * unless `provider.max_wait_seconds` is set. With `questions: 'wait'`, the answer `no` without a reason to a call of
   * the main agent then ends its turn. Default: false.
   */
  readonly attended?: boolean;
  /**
   * True to load the code of the first request when the session is opened. A front end that first displays something
   * sets this to false, so that the code is loaded with the first request. Default: true.
   */
  readonly preload?: boolean;
  /**
   * True to write each event, without its content, to the log file (`log.file`, or else `muster.log` in the data
   * directory). Default: `log.level` decides what is written, if `log.file` is set.
   */
  readonly debug?: boolean;
  /**
   * The editor in which the user has files open. Tools read its texts instead of those on the disk, and change a file that is not
   * saved through it. Default: there is none.
   */
  readonly editor?: EditorPort;
  /** The tools, models and texts of the program that opens the session. Default: none. */
  readonly program?: ProgramParts;
  /** The environment variables. Default: those of the process. */
  readonly environment?: Environment;
  /** Called with one line for each problem that does not stop the work. Default: the lines are dropped. */
  readonly onNotice?: (line: string) => void;
}

export interface RunRequest {
  /** The id of the new task. Default: a new one. */
  readonly id?: string;
  /** The prompt. It may be omitted if the agent has an `initialPrompt`. */
  readonly prompt?: string;
  /** The agent that the main task runs as, by name. Default: the main agent. */
  readonly agent?: string;
  /** The items that accompany the prompt, from `Muster.enclose`. Default: none. */
  readonly enclosed?: QuotedItems;
  /** A JSON schema to which the answer must conform. Default: the schema of the agent, if it has one. */
  readonly outputSchema?: JsonObject;
  /** The conditions under which the work is accepted. Default: those of the agent, if it has some. */
  readonly accept?: AcceptanceRequest;
  /** The permission mode. Default: the mode from the configuration and the flags. */
  readonly mode?: PermissionMode;
  /** Rules for the conversation, of scope `task`, which the user has set before it begins. Default: none. */
  readonly rules?: readonly RuleChange[];
  /** Set if the conversation gets a workspace, as `SessionOptions.worktree`. Default: that option. */
  readonly worktree?: { readonly name: string | null };
  /** The limits of the conversation with all tasks below it. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /** The origin of the request. Default: `sdk`. */
  readonly source?: TaskSource;
}

/** A request to continue a task from one of its events in a new conversation. */
export interface BranchTask {
  /** The id of the task, or a unique beginning of it. */
  readonly id: string;
  /**
   * The number of the event. If the conversation is incomplete at this event, the last event before it at which the
   * conversation is complete is used.
   */
  readonly at: number;
  /** The id of the new task. Default: a new one. */
  readonly branch?: string;
  /** The next message. Default: none. */
  readonly prompt?: string;
  /** The limits of the work that begins, with all tasks below it. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /**
   * True to send along the files and resources that the prompt names with `@`, and the prompt of an MCP server that it
   * chooses. A file that cannot be sent is reported as a notice.
   * Default: false.
   */
  readonly takesFiles?: boolean;
  /** The items that are sent along with the prompt, quoted for the new task; then `takesFiles` has no effect. Default: none. */
  readonly enclosed?: QuotedItems;
  /** The permission mode of the new task. Default: that of the task. */
  readonly mode?: PermissionMode;
  /** Cancels the reading of the files. The new task then exists but does not run. */
  readonly signal?: AbortSignal;
}

/** A request to continue a task that has ended, or whose process has ended before it. */
export interface ResumeRequest {
  /** The id of the task, or a unique beginning of it. */
  readonly id: string;
  /**
   * The next message. Without a message, a task that has ended without completing is told to continue.
   */
  readonly prompt?: string;
  /** The items that accompany the message, from `Muster.enclose`. Default: none. */
  readonly enclosed?: QuotedItems;
  /** The new permission mode. Default: the previous mode, or the mode of this session if that is narrower. */
  readonly mode?: PermissionMode;
  /** The limits of the work that begins, with all tasks below. Default: those of the configuration. */
  readonly limits?: RunLimits;
  /** An answer to a question of the task or of an unfinished descendant, which is given before the task continues. */
  readonly answer?: QuestionAnswer;
  /**
   * For a template run: true to run items again that failed or were ended by a limit. Default: false.
   */
  readonly retryFailed?: boolean;
  /**
   * An ended descendant, by its full id, that continues in the background with the message `prompt`. The task itself
   * only waits for the descendant and is notified when it ends, so the task cannot get a prompt in the same request.
   */
  readonly below?: { readonly id: string; readonly prompt?: string };
}
