import { errorMessage, UsageError } from '../../base/errors.ts';
import {
  INPUT_FORMATS,
  OUTPUT_FORMATS,
  type InputFormat,
  type OutputFormat,
} from '../../protocol/output-format.ts';
import type { QuestionAnswer } from '../../api/index.ts';
import type { FlagReader } from './flag-reader.ts';
import { FLAG_NAMES, flagSpec, type FlagName } from './flags.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import { escapeLine, quoteValue } from '../../config/message-text.ts';

/** The flags that set configuration keys, without `--parent-mode`, which sets the mode of an agent that this process does not run. */
export const CONFIG_FLAGS: readonly FlagName[] = FLAG_NAMES.filter(
  (name) => flagSpec(name).configKey !== undefined && name !== 'parent-mode',
);

export const PROJECT_FLAGS: readonly FlagName[] = ['trust-project', 'cwd'];

/** The flags of all commands that start or continue a task in this process. */
export const SESSION_FLAGS: readonly FlagName[] = [
  'verbose',
  'debug',
  'agents',
  ...CONFIG_FLAGS,
  'max-turns',
  ...PROJECT_FLAGS,
  'add-dir',
  'data-dir',
];

export interface ProjectOptions {
  /** The directory to work in; null for the current one. */
  readonly cwd: string | null;
  readonly trustProject: boolean;
}

export interface DataOptions {
  /** The data directory; null for the user's own. */
  readonly dataDir: string | null;
}

export interface ConfigOptions extends ProjectOptions, DataOptions {
  /** The last layer of the configuration. */
  readonly flags: readonly FlagValue[];
}

/** The options of all commands that start or continue a task in this process. */
export interface SessionFlags extends ConfigOptions {
  readonly verbose: boolean;
  /** Whether all events are written to the log file. */
  readonly debug: boolean;
  /** Whether the logs of the run are kept after the process has ended. */
  readonly log: boolean;
  /** Agent definitions of this session. */
  readonly agents: AgentsArgument | null;
  readonly addDirs: readonly string[];
}

export interface RunFlags extends SessionFlags {
  /** The prompt; null if stdin holds the prompt. If it is not null, the text from stdin is context. */
  readonly prompt: string | null;
  /** The task to continue; `newest` for the newest conversation of the directory, null for a new conversation. */
  readonly resume: ResumedTask | 'newest' | null;
  /** Whether stdin may hold the prompt or a part of it. */
  readonly readsStdin: boolean;
  readonly inputFormat: InputFormat;
  readonly outputFormat: OutputFormat;
  /** The JSON text of a schema for the answer, or the path of a file that holds it; null for an answer in any form. */
  readonly outputSchema: string | null;
  /** The values of `--accept`: command lines, or criteria as JSON. */
  readonly accept: readonly string[];
  /** Set if the main agent works in a worktree. `name` is a part of the name of its branch; null for none. */
  readonly worktree: { readonly name: string | null } | null;
  /** Whether the terminal UI is shown in plain lines. */
  readonly screenReader: boolean;
  /** The name of the main agent; null for the default agent. */
  readonly agent: string | null;
  /** The maximum number of turns of the main agent; null for no limit. */
  readonly maxTurns: number | null;
}

export interface ResumedTask {
  /** The id of a task, or its beginning. */
  readonly id: string;
  /** The answer to a question of the task or of a task below it. */
  readonly answer?: QuestionAnswer;
  /** The number of an event. If it is set, the task stays unchanged, and a new task continues from this event. */
  readonly branchAt?: number;
}

/** The value of `--agents`: the text of a JSON object or array, or the path of a file, which has not been read yet. */
export type AgentsArgument =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

/** The options of commands that report something from the data directory. */
export interface OutputOptions extends DataOptions {
  readonly json: boolean;
}

export function outputOptions(flags: FlagReader): OutputOptions {
  return { json: flags.has('json'), dataDir: flags.text('data-dir') };
}

export function projectOptions(flags: FlagReader): ProjectOptions {
  return { cwd: flags.text('cwd'), trustProject: flags.has('trust-project') };
}

export function configOptions(flags: FlagReader): ConfigOptions {
  return {
    ...projectOptions(flags),
    dataDir: flags.text('data-dir'),
    flags: flags.configValues(CONFIG_FLAGS),
  };
}

export function sessionOptions(flags: FlagReader): SessionFlags {
  return {
    verbose: flags.has('verbose'),
    debug: flags.has('debug'),
    log: !flags.has('no-log'),
    agents: agentsArgument(flags.text('agents')),
    addDirs: flags.texts('add-dir'),
    ...configOptions(flags),
  };
}

export function runOptions(
  flags: FlagReader,
): Omit<RunFlags, 'prompt' | 'resume' | 'readsStdin' | 'worktree'> {
  return {
    ...sessionOptions(flags),
    inputFormat: flags.choice('input-format', INPUT_FORMATS, 'text'),
    outputFormat: flags.choice('output-format', OUTPUT_FORMATS, 'text'),
    outputSchema: flags.text('output-schema'),
    accept: flags.texts('accept'),
    screenReader: flags.has('screen-reader'),
    agent: flags.text('agent'),
    maxTurns: flags.count('max-turns'),
  };
}

function agentsArgument(text: string | null): AgentsArgument | null {
  if (text === null) return null;
  if (text.startsWith('@')) {
    if (text.length === 1) throw new UsageError('--agents @ needs a file: --agents @FILE');
    return { kind: 'file', path: text.slice(1) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `--agents is not JSON (${escapeLine(errorMessage(error))}); a file is named as @FILE`,
    );
  }
  if (typeof value !== 'object' || value === null) {
    throw new UsageError(`--agents must be a JSON object or array, not ${quoteValue(value)}`);
  }
  return { kind: 'json', text };
}

/** The arguments of the program without a command. */
export interface PromptOptions {
  /** Whether to open the terminal UI. Without a terminal, a conversation continues or the help is printed instead. */
  readonly isInteractive: boolean;
  readonly hasFlags: boolean;
  /** Whether the user chooses the conversation to continue in the terminal UI. Then `run.resume` is null. */
  readonly isChoosing: boolean;
  readonly run: RunFlags;
}

export const NO_RESUMED_ID =
  '--resume needs an ID here: `muster tasks list --here` shows the conversations of this directory, and --continue takes the newest';
export const NO_PROMPT = 'a run needs -p and a prompt: muster -p "…"';

/** The forms in which the results of a template run are printed. */
export const TEMPLATE_FORMATS = ['text', 'json', 'csv'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

export interface TemplateRunOptions extends SessionFlags {
  readonly action: TemplateAction;
  readonly format: TemplateFormat;
  /** The file for the results; null for stdout. */
  readonly out: string | null;
  readonly force: boolean;
  /** Whether the best attempts land without a question. */
  readonly apply: boolean;
}

export type TemplateAction =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'start';
      readonly template: string;
      /** A file, a glob, or `-` for stdin; or the items themselves. */
      readonly items: string | readonly string[];
      /** The agent for each item; null for the agent of the template. */
      readonly agent: string | null;
      readonly maxTurns: number | null;
      /** The number of attempts for each item; null for that of the template. */
      readonly attempts: number | null;
      /** The models of the attempts; null for those of the template. */
      readonly models: readonly string[] | null;
      /** The command line that scores the work; null for that of the template. */
      readonly score: string | null;
    }
  /** Continues the run with an id, or with null the newest run of the directory. */
  | { readonly kind: 'continue'; readonly id: string | null; readonly retryFailed: boolean };
