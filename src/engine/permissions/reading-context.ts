import type { FileMemory, FileAccess, ToolContext } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { CallingTask } from './calling-task.ts';

const KEEPS_NOTHING: FileMemory = {
  seen: () => undefined,
  remember: () => {},
  willWrite: refuse,
  willRemove: refuse,
  changedBy: () => undefined,
  removedBy: () => undefined,
  acceptRemoval: () => false,
};

/** The ports of a call that is made to see whether it reads the same: it can do nothing else, and leaves nothing. */
export function readingContext(
  { clock, settings }: Pick<EngineDeps, 'clock' | 'settings'>,
  { spec }: Pick<CallingTask, 'spec'>,
  {
    reach,
    signal,
    attach,
  }: Pick<Required<ToolContext>, 'signal' | 'attach'> & { readonly reach: FileAccess },
): ToolContext {
  return {
    taskId: spec.id,
    callId: 'reuse',
    cwd: spec.cwd,
    ...reach,
    signal,
    clock,
    caps: settings.caps,
    files: KEEPS_NOTHING,
    todos: { get: () => [], set: refuse },
    shells: { start: refuse },
    sandbox: { confine: refuse },
    variables: { seen: () => ({}), own: () => new Set(), keeps: () => false },
    sleep: refuse,
    spillPath: refuse,
    attach,
    progress: () => {},
  };
}

function refuse(): never {
  throw new Error('only what reads and nothing else is run again');
}
