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
  /** Where logs lie. Default: `MUSTER_DATA_DIR`, else below the XDG data directory. */
  readonly dataDir?: string;
  /** False: nothing is kept after `close`. Default true. */
  readonly log?: boolean;
  /**
   * Which of the project's files (configuration, permissions, agents, skills) act. Default false: those that
   * the user has approved with `muster trust add`. True: all, for this run; a function is asked for
   * each one. Nothing is stored.
   */
  readonly trustProject?: TrustDecision;
  /** The last layer of the configuration. */
  readonly flags?: readonly FlagValue[];
  /** Definitions of this session: found before all others. */
  readonly agents?: readonly AgentDefinition[];
  /** Turns of the main agent. Default: no limit. */
  readonly maxTurns?: number;
  /**
   * What happens to a question: `deny`, refused at once; `park`, its task is parked, and the run is
   * left when nothing else goes on; `wait`, it waits for `Muster.answer`, or for another terminal.
   * Default: `permissions.on_ask`.
   */
  readonly questions?: OnAsk;
  /**
   * Whether a person sits before it, who can end what takes too long: a rate limit is then waited for however
   * long it takes, unless `provider.max_wait_seconds` is set. Default false.
   */
  readonly attended?: boolean;
  /**
   * Whether what a first request needs is loaded at once, and not with that request: for who begins by
   * showing something. Default true.
   */
  readonly preload?: boolean;
  /** Default: the process's own. */
  readonly environment?: Environment;
  /** Told what went wrong and stops nothing, a line at a time. Default: nobody hears it. */
  readonly onNotice?: (line: string) => void;
}

export interface RunRequest {
  /** Default: none, which an agent will do with that begins by itself (`initialPrompt`). */
  readonly prompt?: string;
  /** The agent that the main task runs as, by name. Default: the main agent. */
  readonly agent?: string;
  /** What goes with the prompt, as `Muster.enclose` gave it. Default: nothing. */
  readonly enclosed?: QuotedItems;
  /** JSON Schema that its answer must be valid against. Default: the agent's, if any. */
  readonly outputSchema?: JsonObject;
  /** Default: as the configuration and the flags say. */
  readonly mode?: PermissionMode;
  /** Default `sdk`. */
  readonly source?: TaskSource;
}

/** Makes a new conversation out of a task, as that was after an event. */
export interface BranchTask {
  /** Or a unique beginning of it. */
  readonly id: string;
  /** The number of the event; where the conversation is not whole there, the last one before it counts. */
  readonly at: number;
  /** The next message. Default: none. */
  readonly prompt?: string;
  /** The files that it names with `@` go with it; why one can't is told as a notice. Default: false. */
  readonly takesFiles?: boolean;
  /** Gives up while those are read: the branch is there then, and has not gone on. */
  readonly signal?: AbortSignal;
}

/** Makes a task go on: one that has ended, or that its process left. */
export interface ResumeRequest {
  /** Or a unique beginning of it. */
  readonly id: string;
  /** The next message. Default: none; what has ended, and not completed, is told to go on. */
  readonly prompt?: string;
  /** What goes with it, as `Muster.enclose` gave it. Default: nothing. */
  readonly enclosed?: QuotedItems;
  /** Gives a conversation another mode. Default: the one that it had, or a narrower one of this start. */
  readonly mode?: PermissionMode;
  /** Answers a question of it, or of a task below it that had not ended, before it goes on. */
  readonly answer?: QuestionAnswer;
  /** Of a run of a template: what failed, or was ended by a limit, is done again. Default false. */
  readonly retryFailed?: boolean;
  /**
   * An ended task below it, by its whole id, goes on in the background (`prompt`: its next message), and it
   * itself only waits for that and is told of its end. Not with a prompt of its own.
   */
  readonly below?: { readonly id: string; readonly prompt?: string };
}
