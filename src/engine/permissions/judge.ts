import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';
import { type ResolvedCall, type CallPath } from '../../policy/call.ts';
import { isInside } from '../../base/path-inside.ts';
import { decide, needsShellParser } from '../../policy/decide.ts';
import type { DecisionContext } from '../../policy/decision-input.ts';
import { addModeToGrant } from '../../policy/mode-grants.ts';
import { explainRefusal } from '../../policy/explain-refusal.ts';
import type { FileAccess } from '../../protocol/tool.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { askPerson, closeQuestion, type WaitRunner } from '../questions/ask-person.ts';
import type { EngineDeps } from '../task/deps.ts';
import { isSkillFile } from '../prompt/skills.ts';
import { workingDirectory } from '../task/inbox.ts';
import { fileAccess, findPathRisk } from './file-access.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { CallingTask } from './prepare-call.ts';

export interface Judgement {
  readonly allowed: boolean;
  /** The files that the call may open: those in the task's roots, and those allowed outside of them. */
  readonly pathAccess: FileAccess;
  readonly decision: Decision;
  /** The text for the model if the call is not allowed. */
  readonly refusal: string;
}

/**
 * Decides whether a call may run, right before it would: paths are resolved now, and a person is asked if there is
 * one. After an answer the call is decided about again, with the paths, rules and rights as they are by then.
 */
export async function judge(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
  waiting: WaitRunner,
): Promise<Judgement> {
  for (;;) {
    const { call, decision, pathAccess } = await decideNow(deps, run, ready);
    if (decision.verdict !== 'ask') {
      const allowed = decision.verdict === 'allow';
      if (allowed) closeQuestion(run, ready);
      return { allowed, pathAccess, decision, refusal: explainRefusal(decision) };
    }
    const verdict = await askPerson(deps, run, { ready, call, decision }, waiting);
    if (verdict.kind === 'allowed') return { allowed: true, pathAccess, decision, refusal: '' };
    if (verdict.kind === 'refused') return { ...verdict, allowed: false, pathAccess };
  }
}

/** Decides about a call by the present paths, rules and rights, without asking anybody. */
export async function decideNow(deps: EngineDeps, run: CallingTask, ready: ReadyCall) {
  const rights = withGrants(deps, run);
  const described = judgedCall(deps, run, ready);
  const isExecution = described.kind === 'execute';
  const isSandboxed = isExecution && (await deps.sandboxed());
  const { machineIsSandbox: isMachineSandbox = false } = deps;
  const needsParser = needsShellParser(described, rights, { isSandboxed, isMachineSandbox });
  const { shellParser, ...known } = needsParser
    ? await (
        await import('./command-proof.ts')
      ).readCommands(deps, run, ready, { sandboxed: isSandboxed })
    : { shellParser: null };
  const call = { ...described, ...known };
  const { home, stateDirectories } = deps;
  const context: DecisionContext = {
    home,
    stateDirectories,
    shellParser,
    isSandboxed,
    isMachineSandbox,
    isInContainer: isExecution && !isSandboxed && deps.inContainer?.() === true,
  };
  const decision = addModeToGrant(
    decide(call, rights, context),
    { definition: run.spec.agent, rights },
    (mode) => decide(call, { ...rights, mode }, context),
  );
  return { call, decision, pathAccess: fileAccess(call, { rights, home, stateDirectories }) };
}

/** Returns the rights of a task with what the user has allowed since to it, to a task above it, or permanently. */
function withGrants({ inbox }: EngineDeps, run: CallingTask): Rights {
  const { rights } = run.permissions;
  const standing = inbox.standingRules?.rules(workingDirectory(rights)) ?? [];
  const granted = [...run.permissions.granted(), ...standing];
  if (granted.length === 0) return rights;
  const { rules } = rights;
  return { ...rights, rules: { ...rules, allow: [...rules.allow, ...granted] } };
}

function judgedCall(deps: EngineDeps, run: CallingTask, { tool, access }: ReadyCall): ResolvedCall {
  const { roots } = run.permissions.rights;
  const place = { roots, home: deps.home };
  const resolve = (asked: string): CallPath => {
    const { exists, real, inside, problem } = resolveInRoots(asked, roots);
    // A loop of links leads out of no root. The tool can't open it and reports it.
    const leadsNowhere = problem === 'link_loop' && roots.some((root) => isInside(root, asked));
    const isNew = !exists && problem === undefined;
    return { asked, real, insideRoots: inside || leadsNowhere, ...(isNew ? { isNew } : {}) };
  };
  const writable = (asked: string): CallPath => {
    const path = resolve(asked);
    return { ...path, ...findPathRisk(path.real, 'write', place) };
  };
  const readable = (asked: string): CallPath => {
    const path = resolve(asked);
    const risk = findPathRisk(path.real, 'read', place);
    const isOwn =
      deps.store.isTaskFile(run.spec.id, path.real) || isSkillFile(deps, run.state, path.real);
    return isOwn ? { ...path, ...risk, insideRoots: true, isOwn } : { ...path, ...risk };
  };
  const described = access ?? NO_ACCESS;
  const { reads, writes } = described;
  return {
    tool: tool.name,
    // If a tool can't tell its access, the call is treated as a command.
    kind: access === null ? 'execute' : tool.kind,
    access: { ...described, reads: reads.map(readable), writes: writes.map(writable) },
    inToolSet: run.view.has(tool.name),
  };
}
