import { dirname } from 'node:path';
import { NO_ACCESS, type Decision } from '../protocol/permission.ts';
import { isInside, pathsOf, type JudgedCall, type ResolvedPath } from '../policy/call.ts';
import { decide, needsShellParser } from '../policy/decide.ts';
import { refuseUnanswered } from '../policy/refusal.ts';
import { loadShellParser } from '../policy/shell-parser.ts';
import { resolveInRoots } from '../sys/real-path.ts';
import type { EngineDeps } from './deps.ts';
import type { ReadyCall } from './prepare-call.ts';
import type { TaskRun } from './task-run.ts';

export interface Judgement {
  readonly allowed: boolean;
  /** Where the call may open files: the task's roots, and what was allowed beyond them. */
  readonly roots: readonly string[];
  readonly decision: Decision;
  /** What the model reads when it is not allowed. */
  readonly refusal: string;
}

/**
 * Whether a call may run, decided the moment before it would: paths are resolved now, and a person
 * is asked where there is one.
 */
export async function judge(deps: EngineDeps, run: TaskRun, ready: ReadyCall): Promise<Judgement> {
  const { rights } = run.spec;
  const call = judgedCall(deps, run, ready);
  const decision = decide(call, rights, {
    home: deps.home,
    stateDirectories: deps.stateDirectories,
    shellParser: needsShellParser(call, rights) ? await loadShellParser() : null,
  });
  const roots = openRoots(call, rights.roots);
  if (decision.verdict !== 'ask' || deps.questions === null) {
    const allowed = decision.verdict === 'allow';
    return { allowed, roots, decision, refusal: refuseUnanswered(decision) };
  }
  const answer = await askPerson(deps, run, { call, decision });
  return { allowed: answer === 'allow', roots, decision, refusal: DENIED_BY_PERSON };
}

const DENIED_BY_PERSON = 'The user was asked and said no. Go on without it.';

function openRoots(call: JudgedCall, roots: readonly string[]): readonly string[] {
  const beyond = pathsOf(call.access)
    .map((path) => path.real)
    .filter((path) => !roots.some((root) => isInside(root, path)));
  return [...roots, ...beyond.map((path) => dirname(path))];
}

async function askPerson(
  deps: EngineDeps,
  run: TaskRun,
  { call, decision }: { readonly call: JudgedCall; readonly decision: Decision },
): Promise<'allow' | 'deny'> {
  const { commands, writes, reads, hosts } = call.access;
  const paths = [...writes, ...reads].map((path) => path.real);
  run.giveSlot();
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
  await run.takeSlot();
  return answer ?? 'deny';
}

function judgedCall(deps: EngineDeps, run: TaskRun, { tool, access }: ReadyCall): JudgedCall {
  const { roots } = run.spec.rights;
  const resolve = (asked: string): ResolvedPath => {
    const { real, inside } = resolveInRoots(asked, roots);
    return { asked, real, insideRoots: inside };
  };
  const readable = (asked: string): ResolvedPath => {
    const path = resolve(asked);
    return {
      ...path,
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
      writes: described.writes.map(resolve),
    },
    inToolSet: run.view.has(tool.name),
  };
}
