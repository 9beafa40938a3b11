import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { TIERS } from '../../protocol/model.ts';
import { TOOL_NAMES } from '../../protocol/tool-names.ts';

/** The values that completion offers for a flag or an argument: all of these together. */
export interface CompletionValues {
  readonly words?: readonly string[];
  /** The kind of values that are read from the files of this machine, besides `words`. */
  readonly found?: StoredValueKind;
  /** Paths, which the shell completes. */
  readonly paths?: Paths;
}

/** A kind of value that only the files of this machine list. */
export type StoredValueKind =
  | 'agents'
  | 'agent modes'
  | 'configured models'
  | 'ended tasks'
  | 'open questions'
  | 'providers'
  | 'runs of templates'
  | 'settings'
  | 'stored accounts'
  | 'stored providers'
  | 'tasks'
  | 'tasks at work'
  | 'tasks with a workspace'
  | 'templates';

export type Paths = 'files' | 'directories';

export const AGENT_VALUES: CompletionValues = { found: 'agents' };
export const TASK_VALUES: CompletionValues = { found: 'tasks' };
export const TASKS_AT_WORK: CompletionValues = { found: 'tasks at work' };
export const FILES: CompletionValues = { paths: 'files' };
export const MODES: CompletionValues = { words: PERMISSION_MODES };
export const TOOLS: CompletionValues = { words: TOOL_NAMES };
export const MODEL_VALUES: CompletionValues = {
  words: [...TIERS, 'auto', 'offline'],
  found: 'configured models',
};

/** The shells for which Muster can complete its command line. */
export const COMPLETED_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type CompletedShell = (typeof COMPLETED_SHELLS)[number];
