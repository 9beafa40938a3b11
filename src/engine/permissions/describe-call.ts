import { lazy } from '../../base/lazy.ts';
import type { JsonObject } from '../../base/json.ts';
import { isInside } from '../../base/path-inside.ts';
import type { CallPath, ResolvedCall } from '../../policy/call.ts';
import { needsShellParser } from '../../policy/decide.ts';
import type { DecisionContext } from '../../policy/decision-input.ts';
import { matchHookCondition } from '../../policy/hook-condition.ts';
import type { HookCondition, HookMatch } from '../../protocol/hook.ts';
import { NO_ACCESS, type Rights } from '../../protocol/permission.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { describeCallForHooks } from '../hooks/run-hooks.ts';
import { isSkillFile } from '../prompt/skills.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { findPathRisk } from './file-access.ts';
import type { CallingTask } from './prepare-call.ts';

/** The part of an occasion for hooks that describes a call. */
interface CallOccasion {
  readonly about: string;
  readonly matched: string;
  readonly fields: JsonObject;
  readonly matchCondition: (condition: HookCondition) => Promise<HookMatch>;
}

/** Describes a call for hooks. What the call accesses is found out when a hook with a condition needs it. */
export function describeCallOccasion(
  deps: EngineDeps,
  run: CallingTask,
  ready: ReadyCall,
): CallOccasion {
  const { rights } = run.permissions;
  const describe = lazy(() =>
    describeForDecision(deps, run, ready, { rights, alwaysParses: true }),
  );
  return {
    about: ready.call.id,
    matched: ready.tool.name,
    fields: describeCallForHooks(ready),
    matchCondition: async (condition) => {
      const { call, context } = await describe();
      return matchHookCondition(condition, call, rights, context);
    },
  };
}

/** Finds out everything that a decision about a call depends on besides the rights. */
export async function describeForDecision(
  deps: EngineDeps,
  run: CallingTask,
  ready: ReadyCall,
  {
    rights,
    inToolSet,
    alwaysParses = false,
  }: {
    /** The rights that say whether commands have to be parsed. */
    readonly rights: Rights;
    /** Default: whether the task has the tool. */
    readonly inToolSet?: boolean;
    /** True if commands are parsed whatever the rights are. Default: false. */
    readonly alwaysParses?: boolean;
  },
): Promise<{ readonly call: ResolvedCall; readonly context: DecisionContext }> {
  const resolved = resolveCall(deps, run, ready);
  const described = inToolSet === undefined ? resolved : { ...resolved, inToolSet };
  const isExecution = described.kind === 'execute';
  const isSandboxed = isExecution && (await deps.sandboxed());
  const { machineIsSandbox: isMachineSandbox = false } = deps;
  const needsParser =
    described.access.commands.length > 0 &&
    (alwaysParses || needsShellParser(described, rights, { isSandboxed, isMachineSandbox }));
  const { shellParser, ...findings } = needsParser
    ? await (
        await import('./command-proof.ts')
      ).analyzeCommands(deps, run, ready, { sandboxed: isSandboxed })
    : { shellParser: null };
  const { home, stateDirectories } = deps;
  const context: DecisionContext = {
    home,
    stateDirectories,
    shellParser,
    isSandboxed,
    isMachineSandbox,
    isInContainer: isExecution && !isSandboxed && deps.inContainer?.() === true,
    ...(ready.hookVerdict === undefined ? {} : { hook: ready.hookVerdict }),
  };
  return { call: { ...described, ...findings }, context };
}

/** Resolves the paths of a call to real paths, each with the risk of reading or writing it. */
function resolveCall(
  deps: EngineDeps,
  run: CallingTask,
  { tool, access, byCommand, decidedAs = tool.name }: ReadyCall,
): ResolvedCall {
  const { roots } = run.permissions.rights;
  const context = { roots, home: deps.home };
  const resolvePath = (asked: string): CallPath => {
    const { exists, real, inside, problem } = resolveInRoots(asked, roots);
    // A loop of links leads to no file outside of the roots. The tool can't open it and reports that.
    const leadsNowhere = problem === 'link_loop' && roots.some((root) => isInside(root, asked));
    const isNew = !exists && problem === undefined;
    return { asked, real, insideRoots: inside || leadsNowhere, ...(isNew ? { isNew } : {}) };
  };
  const resolveWrite = (asked: string): CallPath => {
    const path = resolvePath(asked);
    return { ...path, ...findPathRisk(path.real, 'write', context) };
  };
  const resolveRead = (asked: string): CallPath => {
    const path = resolvePath(asked);
    const risk = findPathRisk(path.real, 'read', context);
    const isOwn =
      deps.store.isTaskFile(run.spec.id, path.real) || isSkillFile(deps, run.state, path.real);
    return isOwn ? { ...path, ...risk, insideRoots: true, isOwn } : { ...path, ...risk };
  };
  const described = access ?? NO_ACCESS;
  const { reads, writes } = described;
  return {
    tool: decidedAs,
    // A call whose access is unknown is treated as a command.
    kind: access === null ? 'execute' : tool.kind,
    access: { ...described, reads: reads.map(resolveRead), writes: writes.map(resolveWrite) },
    inToolSet: byCommand !== undefined || run.view.has(decidedAs),
  };
}
