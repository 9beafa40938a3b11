import type { CommandKind } from './command-table.ts';
import type { RewindRequest, UsageKey } from '../../api/index.ts';
import type { FlagValue } from '../../config/text-layer.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';
import type { TaskStatus } from '../../protocol/result.ts';
import type { CompletionCommand } from './completion-command.ts';
import type { SchemaCommand } from './schema-command.ts';
import type { QuestionAnswer } from '../../api/index.ts';

/** What a command line asks for, as data; paths are as typed, to be resolved from the directory. */
export type Command =
  | RunCommand
  | InteractiveCommand
  | { readonly kind: 'help'; readonly topic: HelpTopic }
  | { readonly kind: 'version' }
  | AgentsCommand
  | SkillsCommand
  | TasksCommand
  | UsageCommand
  | TrustCommand
  | (JsonCommand & ConfigFlags & DataFlags & { readonly kind: 'models' | 'config-show' | 'doctor' })
  | RunTemplateCommand
  | SandboxCommand
  | CompletionCommand
  | SchemaCommand;

/** The whole program, or the commands whose help is wanted. */
export type HelpTopic = 'program' | readonly CommandKind[];

interface JsonCommand {
  /** Print JSON. */
  readonly json: boolean;
}

export interface ProjectFlags {
  /** Null: the current directory. */
  readonly cwd: string | null;
  readonly trustProject: boolean;
}

export interface ConfigFlags extends ProjectFlags {
  /** The last layer of the configuration. */
  readonly flags: readonly FlagValue[];
}

export interface DataFlags {
  /** Null: the user's own. */
  readonly dataDir: string | null;
}

/** What `muster skills …` asks for. */
export interface SkillsCommand extends JsonCommand, ProjectFlags, DataFlags {
  readonly kind: 'skills-list' | 'skills-check';
  /** Look at every skill below this directory; null: at those that can be used in `cwd`. */
  readonly dir: string | null;
}

/** The terminal UI; where there is no terminal, what the same words mean without one. */
export interface InteractiveCommand {
  readonly kind: 'interactive';
  readonly run: RunCommand;
  /** Whether any flag was given. */
  readonly hasFlags: boolean;
}

export interface RunCommand extends ConfigFlags, DataFlags {
  readonly kind: 'run';
  /** Null: stdin is the prompt. Otherwise stdin, where something comes from it, is context. */
  readonly prompt: string | null;
  /** The task to go on with: an id or its beginning, or the newest conversation; null: a new one. */
  readonly resume: ResumedTask | 'newest' | null;
  /** Whether stdin may hold (a part of) the prompt. */
  readonly readsStdin: boolean;
  readonly outputFormat: OutputFormat;
  /** JSON text of a schema, or the path of a file that holds it; null: any answer will do. */
  readonly outputSchema: string | null;
  readonly verbose: boolean;
  /** The terminal UI in plain lines. */
  readonly screenReader: boolean;
  /** False: nothing is kept after exit. */
  readonly log: boolean;
  /** The main agent's definition by name; null: the default one. */
  readonly agent: string | null;
  /** Definitions of this session. */
  readonly agents: AgentsArgument | null;
  /** Turns of the main agent; null: no limit. */
  readonly maxTurns: number | null;
  readonly addDirs: readonly string[];
}

/** What `muster run …` asks for. */
export interface RunTemplateCommand extends ConfigFlags, DataFlags {
  readonly kind: 'run-template';
  readonly action: TemplateAction;
  readonly format: TemplateFormat;
  /** Null: stdout. */
  readonly out: string | null;
  readonly force: boolean;
  readonly verbose: boolean;
  readonly log: boolean;
  readonly agents: AgentsArgument | null;
  readonly addDirs: readonly string[];
}

export const TEMPLATE_FORMATS = ['text', 'json', 'csv'] as const;
export type TemplateFormat = (typeof TEMPLATE_FORMATS)[number];

type TemplateAction =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'start';
      readonly template: string;
      /** A file, a glob, or `-` for stdin. */
      readonly items: string;
      /** Null: as the template says. */
      readonly agent: string | null;
      readonly maxTurns: number | null;
    }
  /** Null: the newest of the directory. */
  | { readonly kind: 'continue'; readonly id: string | null; readonly retryFailed: boolean };

/** A command of the user's own, to be run in the sandbox. */
export interface SandboxCommand extends DataFlags {
  readonly kind: 'sandbox';
  readonly argv: readonly [string, ...string[]];
  /** Null: the current directory. */
  readonly cwd: string | null;
  readonly addDirs: readonly string[];
  readonly readOnly: boolean;
  /** False: as configured. */
  readonly network: boolean;
}

export interface ResumedTask {
  readonly id: string;
  /** To a question of it or of a task below it. */
  readonly answer?: QuestionAnswer;
  /** Set: it is left as it is, and a new task goes on from this event of it. */
  readonly branchAt?: number;
}

/** What `muster agents …` asks for. */
export type AgentsCommand = JsonCommand &
  ProjectFlags &
  DataFlags &
  (
    | {
        readonly kind: 'agents-list';
        readonly verbose: boolean;
        /** Null: what can be used here. */
        readonly dir: string | null;
      }
    | { readonly kind: 'agents-show'; readonly name: string }
    | {
        readonly kind: 'agents-check';
        /** Names and files; empty: all. */
        readonly names: readonly string[];
        readonly strict: boolean;
        readonly dir: string | null;
      }
    | {
        readonly kind: 'agents-explain';
        readonly name: string;
        readonly flags: readonly FlagValue[];
        readonly addDirs: readonly string[];
      }
    | NewAgent
    | {
        readonly kind: 'agents-import';
        /** Names and files; empty: all below `dir`. */
        readonly names: readonly string[];
        readonly dir: string | null;
        readonly to: string;
        /** Null: as before. */
        readonly name: string | null;
        readonly force: boolean;
      }
  );

/** Null: not said. */
export interface NewAgent {
  readonly kind: 'agents-new';
  readonly name: string | null;
  readonly description: string | null;
  readonly tools: string | null;
  readonly model: string | null;
  readonly mode: string | null;
  readonly prompt: string | null;
  readonly promptFile: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly force: boolean;
}

/** What `muster tasks …` asks for; an `id` is one or the beginning of one. */
export type TasksCommand = DataFlags &
  (TasksQuery | TaskMessage | QuestionAnswered | BranchCommand);

/** `run`: what it goes on with. */
export interface BranchCommand {
  readonly kind: 'tasks-branch';
  readonly run: RunCommand;
}

export type TasksQuery = JsonCommand &
  (
    | {
        readonly kind: 'tasks-list';
        readonly all: boolean;
        /** Empty: any. */
        readonly status: readonly TaskStatus[];
        readonly here: boolean;
      }
    | {
        readonly kind: 'tasks-show';
        readonly id: string;
        /** Null: no page; `-`: stdout. */
        readonly html: string | null;
        readonly force: boolean;
      }
    | { readonly kind: 'tasks-background' | 'tasks-rerun'; readonly id: string }
    | {
        readonly kind: 'tasks-rewind';
        readonly id: string;
        readonly wish: RewindRequest;
        readonly yes: boolean;
      }
    | { readonly kind: 'tasks-log'; readonly id: string; readonly from: number }
    /** Null: the newest turn. */
    | { readonly kind: 'tasks-context'; readonly id: string; readonly turn: number | null }
    /** Null: all tasks. */
    | { readonly kind: 'tasks-watch'; readonly id: string | null }
    | { readonly kind: 'tasks-stop'; readonly id: string; readonly because: string | null }
    | {
        readonly kind: 'tasks-export';
        readonly id: string;
        /** Null: stdout. */
        readonly file: string | null;
        readonly force: boolean;
      }
    /** `-`: stdin. */
    | { readonly kind: 'tasks-import'; readonly file: string }
    | { readonly kind: 'tasks-delete'; readonly ids: readonly string[] }
    /** Null: as configured. */
    | { readonly kind: 'tasks-prune'; readonly days: number | null }
  );

/** What `muster usage` asks for. */
export interface UsageCommand extends JsonCommand, DataFlags {
  readonly kind: 'usage';
  /** One or the beginning of one; null: all. */
  readonly task: string | null;
  readonly by: UsageKey;
  readonly since: Since | null;
  /** Print every row. */
  readonly all: boolean;
}

/** The first day that counts, `YYYY-MM-DD`, or so many days up to today; days of UTC. */
export type Since = { readonly day: string } | { readonly days: number };

/** What `muster trust …` asks for. */
export type TrustCommand = JsonCommand &
  DataFlags & {
    /** Null: the current directory. */
    readonly cwd: string | null;
  } & (
    | { readonly kind: 'trust-list' }
    /** No paths: all of the project. */
    | { readonly kind: 'trust-add'; readonly paths: readonly string[]; readonly yes: boolean }
    /** Paths and rules; null: all of the project. */
    | { readonly kind: 'trust-revoke'; readonly names: readonly string[] | null }
  );

/** Something for a task, wherever it lives. */
export interface TaskMessage {
  readonly kind: 'tasks-send' | 'tasks-resume';
  readonly id: string;
  /** How it goes on where no process has it; `prompt` is the message. */
  readonly run: RunCommand;
  /** Flags of the run that mean nothing to a process that has it, as typed. */
  readonly flagsOfRun: readonly string[];
}

/** What is asked, and what a person says to it. */
export interface QuestionAnswered extends JsonCommand {
  readonly kind: 'tasks-answer';
  /** Of a question, or its beginning; null: all are listed. */
  readonly id: string | null;
  /** Null: the question is shown. */
  readonly answer: Omit<QuestionAnswer, 'question'> | null;
  /** How its tree goes on where no process has it. */
  readonly run: RunCommand;
  /** Flags of the run that mean nothing to a process that has it, as typed. */
  readonly flagsOfRun: readonly string[];
}

/** `json` is known to be the text of a JSON object or array; `file` is yet to be read. */
export type AgentsArgument =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };
