import type { JsonObject } from '../../base/json.ts';
import type { QuotedItems } from '../../engine/quote/quote.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { TaskSource } from '../../protocol/task.ts';
import type { Environment } from '../../sys/env.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import type { TrustDecision } from '../../trust/project-trust.ts';
import type { QuestionAnswer } from '../../engine/engine-requests.ts';

export interface MusterOptions {
  /** The working directory: the first workspace root. Default: the process's own. */
  readonly cwd?: string;
  /** Further workspace roots; relative ones count from `cwd`. */
  readonly addDirs?: readonly string[];
  /** The directory of logs. Default: `MUSTER_DATA_DIR`, else below the XDG data directory. */
  readonly dataDir?: string;
  /**
   * True if logs are kept, and it is an error if they cannot be. False if nothing is kept after `close`. Default: logs
   * are kept, unless the user's own data directory cannot be written; a notice says so.
   */
  readonly log?: boolean;
  /**
   * Decides which of the project's files (configuration, permissions, agents, skills) have an effect. Default: false,
   * those that the user has approved with `muster trust add`. True: all, for this run. A function is called for each
   * file. Nothing is stored.
   */
  readonly trustProject?: TrustDecision;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Definitions of this session, which precede all others. */
  readonly agents?: readonly AgentDefinition[];
  /** The turn limit of the main agent. Default: no limit. */
  readonly maxTurns?: number;
  /**
   * The treatment of questions. `deny`: a question is refused at once. `park`: its task is parked, and the run ends
   * when nothing else runs. `wait`: it waits for `Muster.answer`, or for another terminal. Default:
   * `permissions.on_ask`.
   */
  readonly questions?: OnAsk;
  /**
   * True if a person is present and can end what takes too long. Then the wait for a rate limit is unlimited, unless
   * `provider.max_wait_seconds` is set. Default: false.
   */
  readonly attended?: boolean;
  /**
   * True if the code for a first request is loaded at once, and not with that request. A front end that shows
   * something first sets it to false. Default: true.
   */
  readonly preload?: boolean;
  /** Default: the process's own. */
  readonly environment?: Environment;
  /** Called with one line for each problem that stops nothing. Default: the line is dropped. */
  readonly onNotice?: (line: string) => void;
}

export interface RunRequest {
  /** The prompt. Default: none, which is enough for an agent with an `initialPrompt`. */
  readonly prompt?: string;
  /** The agent that the main task runs as, by name. Default: the main agent. */
  readonly agent?: string;
  /** The items that accompany the prompt, from `Muster.enclose`. Default: none. */
  readonly enclosed?: QuotedItems;
  /** JSON Schema that its answer must be valid against. Default: the agent's, if any. */
  readonly outputSchema?: JsonObject;
  /** The permission mode. Default: that of the configuration and the flags. */
  readonly mode?: PermissionMode;
  /** Default `sdk`. */
  readonly source?: TaskSource;
}

/** A request for a new conversation from a task as it was after one of its events. */
export interface BranchTask {
  /** The id of the task, or a unique beginning of it. */
  readonly id: string;
  /**
   * The number of the event. If the conversation is incomplete there, the last complete event before it counts.
   */
  readonly at: number;
  /** The next message. Default: none. */
  readonly prompt?: string;
  /**
   * True if the files that the prompt names with `@` accompany it. A notice says why a file cannot. Default: false.
   */
  readonly takesFiles?: boolean;
  /** Cancels the reading of the files. The branch exists then, and has not continued. */
  readonly signal?: AbortSignal;
}

/** A request to continue a task that has ended, or that its process abandoned. */
export interface ResumeRequest {
  /** The id of the task, or a unique beginning of it. */
  readonly id: string;
  /**
   * The next message. Default: none; a task that has ended without completing is told to continue.
   */
  readonly prompt?: string;
  /** The items that accompany the message, from `Muster.enclose`. Default: none. */
  readonly enclosed?: QuotedItems;
  /** The new permission mode. Default: the former one, or a narrower one of this start. */
  readonly mode?: PermissionMode;
  /** An answer to a question of the task, or of an unfinished descendant, before it continues. */
  readonly answer?: QuestionAnswer;
  /**
   * For a template run: true if items that failed, or were ended by a limit, run again. Default: false.
   */
  readonly retryFailed?: boolean;
  /**
   * An ended descendant, by its full id, that continues in the background (`prompt` is its next message). The task
   * itself only waits for it and is notified of its end. Not with a prompt of its own.
   */
  readonly below?: { readonly id: string; readonly prompt?: string };
}
