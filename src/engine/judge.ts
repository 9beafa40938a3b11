import { NO_ACCESS, type Decision } from '../protocol/permission.ts';
import { isInside } from '../policy/call.ts';
import type { CommandProof, JudgedCall, ResolvedPath } from '../policy/call.ts';
import { decide, needsShellParser } from '../policy/decide.ts';
import { refuseUnanswered } from '../policy/refusal.ts';
import { loadShellParser, type ShellParser } from '../policy/shell-parser.ts';
import type { FileReach } from '../protocol/tool.ts';
import { commandPath } from '../sys/command-environment.ts';
import { readEnvironment } from '../sys/env.ts';
import { resolveInRoots } from '../sys/real-path.ts';
import { proveCommands } from './command-proof.ts';
import type { EngineDeps } from './deps.ts';
import { fileReach, pathCaution } from './file-reach.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { TaskRun } from './task-run.ts';

export interface Judgement {
  readonly allowed: boolean;
  /** Where the call may open files: in the task's roots, and what was allowed beyond them. */
  readonly reach: FileReach;
  readonly decision: Decision;
  /** What the model reads when it is not allowed. */
  readonly refusal: string;
}

/** Runs a wait in which the call is not at work. */
export type Waiting = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Whether a call may run, decided the moment before it would: paths are resolved now, and a person
 * is asked where there is one.
 */
export async function judge(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
  waiting: Waiting,
): Promise<Judgement> {
  const { rights } = run;
  const described = judgedCall(deps, run, ready);
  const sandboxed = described.kind === 'execute' && (await deps.sandboxed());
  const needsParser = needsShellParser(described, rights, { sandboxed });
  const shellParser = needsParser ? await loadShellParser() : null;
  const call =
    shellParser === null
      ? described
      : { ...described, proof: await proofOf(deps, run, ready, { shellParser, sandboxed }) };
  const { home, stateDirectories } = deps;
  const decision = decide(call, rights, { home, stateDirectories, shellParser, sandboxed });
  const reach = fileReach(call, { rights, home });
  if (decision.verdict !== 'ask' || deps.questions === null) {
    const allowed = decision.verdict === 'allow';
    return { allowed, reach, decision, refusal: refuseUnanswered(decision) };
  }
  const answer = await waiting(() => askPerson(deps, run, { call, decision }));
  return { allowed: answer === 'allow', reach, decision, refusal: DENIED_BY_PERSON };
}

const DENIED_BY_PERSON = 'The user was asked and said no. Go on without it.';

async function askPerson(
  deps: EngineDeps,
  run: TaskRun,
  { call, decision }: { readonly call: JudgedCall; readonly decision: Decision },
): Promise<'allow' | 'deny'> {
  const { commands, writes, reads, hosts } = call.access;
  const paths = [...writes, ...reads].map((path) => path.real);
  const answer = await deps.questions?.ask(
    {
      taskId: run.spec.id,
      chain: run.chain(),
      tool: call.tool,
      subject: [...commands, ...paths, ...hosts].join('\n'),
      decision,
    },
    run.signal,
  );
  return answer ?? 'deny';
}

async function proofOf(
  deps: EngineDeps,
  run: TaskRun,
  { access }: ReadyCall,
  { shellParser, sandboxed }: { readonly shellParser: ShellParser; readonly sandboxed: boolean },
): Promise<CommandProof> {
  const { rights, spec } = run;
  return await proveCommands(access ?? NO_ACCESS, shellParser, {
    cwd: spec.cwd,
    home: deps.home,
    rights,
    searchPath: commandPath(readEnvironment()),
    clock: deps.clock,
    sandboxed,
  });
}

function judgedCall(deps: EngineDeps, run: TaskRun, { tool, access }: ReadyCall): JudgedCall {
  const { roots } = run.rights;
  const resolve = (asked: string): ResolvedPath => {
    const { real, inside, problem } = resolveInRoots(asked, roots);
    // A loop leads nowhere, so it leads out of no root: the tool, which can't open it, says what it is.
    const leadsNowhere = problem === 'link_loop' && roots.some((root) => isInside(root, asked));
    return { asked, real, insideRoots: inside || leadsNowhere };
  };
  const writable = (asked: string): ResolvedPath => {
    const path = resolve(asked);
    return { ...path, ...pathCaution(path.real, 'write', roots) };
  };
  const readable = (asked: string): ResolvedPath => {
    const path = resolve(asked);
    return {
      ...path,
      ...pathCaution(path.real, 'read', roots),
      insideRoots: path.insideRoots || deps.store.isOwnFile(run.spec.id, path.real),
    };
  };
  const described = access ?? NO_ACCESS;
  return {
    tool: tool.name,
    // What a tool can't tell of itself is judged as the worst that it could be.
    kind: access === null ? 'execute' : tool.kind,
    access: {
      ...described,
      reads: described.reads.map(readable),
      writes: described.writes.map(writable),
    },
    inToolSet: run.view.has(tool.name),
  };
}
