import { describeHookMoment } from '../protocol/hook-text.ts';
import type { HookEventName, HookSource } from '../protocol/hook.ts';

/** A hook that runs in the present project. */
export interface HookRow {
  readonly event: HookEventName;
  /** The pattern that the occasion must match. Empty: any. */
  readonly matcher: string;
  /** The permission rule that the call must match (`if`). Absent if there is none. */
  readonly condition?: string;
  readonly kind: 'command' | 'http' | 'prompt' | 'agent' | 'mcp_tool' | 'function';
  /** The command, the address or the question. */
  readonly what: string;
  readonly source: HookSource;
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
  readonly timeoutSeconds: number;
  readonly isAsync: boolean;
  readonly isOnce: boolean;
}

/** The hooks of a user and a project. */
export interface HookReport {
  readonly hooks: readonly HookRow[];
  /** The files of the project whose hooks do not run, because the user has not trusted them. */
  readonly untrusted: readonly { readonly path: string; readonly state: 'untrusted' | 'changed' }[];
  /** The parts of the files that have no effect: one sentence each, with the file and the position in it. */
  readonly problems: readonly string[];
}

/** Describes the hooks that run in a project, those that do not, and what has no effect. The lines quote the files. */
export function hookLines({ hooks, untrusted, problems }: HookReport): readonly string[] {
  return [
    ...hooks.map(formatHook),
    ...(hooks.length === 0 ? ['No hook runs here.'] : []),
    ...untrusted.map(
      ({ path, state }) =>
        `! ${path} has hooks that do not run, because ${state === 'changed' ? 'it has changed since you trusted it' : 'you have not trusted it'}: muster trust add`,
    ),
    ...problems.map((problem) => `! ${problem}`),
  ];
}

const PREFIXES = {
  command: '',
  http: 'POST ',
  prompt: 'ask: ',
  agent: 'have a subagent answer: ',
  mcp_tool: 'call ',
  function: 'function ',
} as const;

function formatHook({
  event,
  matcher,
  condition,
  kind,
  what,
  source,
  timeoutSeconds,
  isAsync,
  isOnce,
}: HookRow): string {
  const when = describeHookMoment({ event, matcher, condition });
  const notes = [
    ...(isAsync ? ['nobody waits for it'] : []),
    ...(isOnce ? ['once'] : []),
    `${timeoutSeconds} s`,
    `${source.kind}: ${source.where}`,
  ];
  return `${when}  ${PREFIXES[kind]}${what}  (${notes.join(', ')})`;
}
