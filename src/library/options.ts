import type { AnswerRequest, ProgramContext, ProjectFileToTrust } from '../api/index.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { HookEventName } from '../protocol/hook.ts';
import type { LanguageModelObject } from '../protocol/language-model.ts';
import type { ModelPort } from '../protocol/model.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { StorePort } from '../protocol/store-port.ts';
import type { Question } from '../protocol/question.ts';
import type { AcceptanceRequest } from '../protocol/acceptance.ts';
import type { AgentFunction, AgentFields } from './agents.ts';
import type { MusterConfig } from './config.ts';
import type { CustomTool } from './define-tool.ts';
import type { Schema } from './standard-schema.ts';

/**
 * A model: a name as `--model` accepts it (`anthropic/claude-sonnet-4-5`, `fast`, `offline`), a model object of the AI SDK, or a
 * `ModelPort` of your own.
 */
export type Model = string | LanguageModelObject | ModelPort;

/**
 * Answers a question of a task with a text: `yes`, `no` or `always` for a permission, `yes` or `no` for a plan, any text for a
 * question of AskUser, and `name: value` for the fields of a server's form. The object form adds a reason or a scope. An error
 * that it throws, or an answer that does not fit, counts as no. `signal` aborts when the question is settled in another way.
 *
 * @example
 * import type { AnswerQuestion } from 'muster-agent';
 *
 * const onQuestion: AnswerQuestion = (question) =>
 *   question.kind === 'permission' && question.commands.every((line) => line.startsWith('npm test'))
 *     ? 'yes'
 *     : { text: 'no', reason: 'only tests may run' };
 */
export type AnswerQuestion = (
  question: Question,
  context: { readonly signal: AbortSignal },
) => string | AnswerRequest | Promise<string | AnswerRequest>;

/** A call that a policy judges. */
export interface JudgedCall {
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The arguments of the call. */
  readonly input: JsonObject;
  /** The name of the agent that makes the call. Undefined for the main agent. */
  readonly agent?: string;
  /** The depth of the task in its tree. 0: the main agent. */
  readonly depth: number;
  /** The working directory of the task. Absolute. */
  readonly cwd: string;
}

/**
 * Judges a call. Returns a verdict, or nothing if the rules decide. `signal` aborts when the task is stopped.
 *
 * @example
 * import type { JudgeCall } from 'muster-agent';
 *
 * const policy: JudgeCall = ({ tool, depth }) =>
 *   tool === 'Bash' && depth > 0
 *     ? { decision: 'deny', reason: 'subagents run no commands here' }
 *     : undefined;
 */
export type JudgeCall = (
  call: JudgedCall,
  context: { readonly signal: AbortSignal },
) => Narrowing | undefined | Promise<Narrowing | undefined>;

/** A verdict that narrows. The reason is for the model and for people. */
export interface Narrowing {
  readonly decision: 'ask' | 'deny';
  /** The reason, for the model and for people. */
  readonly reason: string;
}

/**
 * A function that runs as a hook.
 *
 * @example
 * import { createMuster, type FunctionHook } from 'muster-agent';
 *
 * const count: FunctionHook = {
 *   matcher: 'Edit|Write',
 *   run: (input) => console.log(input['tool_name'], input['tool_input']),
 * };
 * await using muster = await createMuster({ model: 'offline', hooks: { PostToolUse: [count] } });
 */
export interface FunctionHook {
  /** The pattern for the tool or other value, as in settings: `Bash`, `Edit|Write`, `mcp__.*`. Default: every occasion. */
  readonly matcher?: string;
  /** The time limit of a run in seconds, above 0. Default: 60. */
  readonly timeoutSeconds?: number;
  /** Gets the input of the hook, and returns its output in Claude Code's format, or nothing. */
  run(
    input: JsonObject,
    context: { readonly signal: AbortSignal },
  ): JsonObject | undefined | void | Promise<JsonObject | undefined | void>;
}

/** The options of `createMuster`. All are optional, except that a model must be named unless `inherit` is set. */
export interface MusterOptions {
  /**
   * True to read what the user of this machine has configured: the environment variables of the process, the user's files
   * (configuration, keys, agents, skills, hooks, MCP servers) and the user's data directory. Default: false. Nothing of the user
   * is read then; only commands of tasks get PATH, TMPDIR, LANG and TZ of the process.
   */
  readonly inherit?: boolean;
  /** The model of the main agent, and of agents that name no other. Required unless `inherit` is set. */
  readonly model?: Model;
  /**
   * Further models by name, which agents may name. `fast`, `balanced` and `powerful` are the models of these tiers. Default of a
   * tier: the model of the main agent.
   */
  readonly models?: Readonly<Record<string, Model>>;
  /** The working directory, which is the first directory that tasks may use. Default: that of the process. */
  readonly cwd?: string;
  /** Further directories that tasks may use. Relative paths are relative to `cwd`. Default: none. */
  readonly addDirs?: readonly string[];
  /**
   * The directory for the logs of tasks, which is created if it does not exist. Default: the logs are kept in memory; with
   * `inherit`, the user's data directory.
   */
  readonly dataDir?: string;
  /**
   * A store of your own for the logs of tasks, instead of `dataDir`. Experimental. Default: none. Only tasks of this instance are listed and known
   * by a beginning of their id; any other task of the store is read when `resume`, `branch`, `rerun` or `readEvents` names its full id.
   */
  readonly store?: StorePort;
  /** Agents by name, in addition to the built-in ones. They replace others of the same name. Default: none. */
  readonly agents?: Readonly<Record<string, AgentFields | AgentFunction>>;
  /** Tools of your own, from `defineTool`. The main agent has them, and agents with all tools or that name them. Default: none. */
  readonly tools?: readonly CustomTool[];
  /** Texts for the context of every task, by name: instructions, or facts that change. Default: none. */
  readonly context?: Readonly<Record<string, string | ProgramContext['read']>>;
  /** The permission mode of runs that name none. Default: that of the configuration, which is `default`. */
  readonly mode?: PermissionMode;
  /** Permission rules, such as `Bash(npm test:*)`, for calls that run without a question. Default: none. */
  readonly allow?: readonly string[];
  /** Permission rules for calls that are asked about. Default: none. */
  readonly ask?: readonly string[];
  /** Permission rules for calls that never run. They win over `allow` and `ask`. Default: none. */
  readonly deny?: readonly string[];
  /** Answers the questions of tasks. Default: what would need an answer is refused. */
  readonly onQuestion?: AnswerQuestion;
  /**
   * Judges each call before Muster's own rules do: `deny` or `ask`, with a reason for the model, or nothing to leave the decision to
   * the rules. It can only narrow: nothing that it returns allows a call. An error that it throws refuses the call.
   * Default: only the rules decide.
   */
  readonly policy?: JudgeCall;
  /**
   * Functions that run at the events of Claude Code's hooks (docs/hooks.md). They get the fields of a hook's input and return the
   * fields of its output, or nothing. Default: none.
   */
  readonly hooks?: Readonly<Partial<Record<HookEventName, readonly FunctionHook[]>>>;
  /**
   * True to use the project's files (configuration, permissions, agents, skills, hooks) of `cwd`, a function to decide about each.
   * Default: false, so only files are used that the user has approved.
   */
  readonly trustProject?: boolean | ((file: ProjectFileToTrust) => boolean);
  /**
   * Environment variables instead of those of the process: for keys of providers, and for commands of tasks. Without `inherit`,
   * only commands get `HOME` and the variables that lead to files and settings of the user. Default: with `inherit`, those of the
   * process; otherwise none.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * The configuration, with the sections and keys of `config.toml`. It takes precedence over files and the environment.
   * Default: none.
   */
  readonly config?: MusterConfig;
  /**
   * The clock for the times in logs, results and contexts, such as `manualClock` of `muster-agent/testing`. Time limits always use
   * that of the system. Default: that of the system.
   */
  readonly clock?: Clock;
  /**
   * Called with each line about a problem that does not stop the work. The first error that it throws is a warning of the process
   * (`process.on('warning')`), later ones are dropped. Default: the lines are dropped.
   */
  readonly onNotice?: (line: string) => void;
}

/** Limits of one run, which also bound all tasks below it. */
export interface RunBudget {
  /**
   * The number of tokens that are not read from a cache. A request reserves its prompt and at least 2,048 tokens for its answer, so that
   * a budget below some thousand allows none. Default: that of the configuration.
   */
  readonly tokens?: number;
  /** The cost in US dollars, which can only be checked for models with a known price. Default: that of the configuration. */
  readonly usd?: number;
  /** The time in seconds. Default: that of the configuration. */
  readonly seconds?: number;
  /** The number of requests of the main task to its model. Default: that of the configuration. */
  readonly turns?: number;
}

/** The options of one run. */
export interface RunOptions<S extends Schema | undefined = Schema | undefined> {
  /** The agent as which the run works. Default: the main agent. */
  readonly agent?: string;
  /** The permission mode. Default: that of `createMuster`. */
  readonly mode?: PermissionMode;
  /** The limits of the run with all tasks below it. Default: those of the configuration. */
  readonly budget?: RunBudget;
  /** The schema of the answer. The `output` of the result then has its type. Default: the answer is a text. */
  readonly outputSchema?: S;
  /** The conditions under which the work is accepted: a command line, several, or an object. Default: none. */
  readonly accept?: AcceptanceRequest;
  /**
   * True to work in a git worktree of its own, or outside of a repository in a copy of the directory; a text also names its branch
   * (docs/workspaces.md). Default: the run works in `cwd`.
   */
  readonly worktree?: boolean | string;
  /** Stops the run when it aborts. If it has aborted already, the run rejects with `CANCELLED`. Default: none. */
  readonly signal?: AbortSignal;
  /** True if iteration also yields pieces of answers and the progress of calls as they arrive. Default: false. */
  readonly deltas?: boolean;
}

/** The options with which an earlier task goes on. */
export type ResumeOptions = Pick<RunOptions, 'mode' | 'budget' | 'signal' | 'deltas'>;

/** The options of a branch. */
export interface BranchOptions extends Pick<RunOptions, 'budget' | 'signal' | 'deltas'> {
  /** The number of the event after which the branch continues. */
  readonly at: number;
  /** The next message. Default: none. */
  readonly prompt?: string;
}
