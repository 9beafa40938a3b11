import { createHash } from 'node:crypto';
import { pathsOf, type JudgedCall } from '../../policy/call.ts';
import { grantedDefinition } from '../../policy/mode-grants.ts';
import { refuseUnanswered } from '../../policy/refusal.ts';
import { ruleToOffer } from '../../policy/rule-to-offer.ts';
import type { Decision } from '../../protocol/permission.ts';
import {
  questionSubject,
  type PermissionQuestion,
  type ProposedEdit,
} from '../../protocol/question.ts';
import type { EngineDeps } from '../task/deps.ts';
import { haltedMessage, isHalted } from '../task/denials.ts';
import { changesByRedaction } from './redaction-check.ts';
import { openQuestion } from './open-question.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall } from '../task/prepared-call.ts';

/** A call that a person is to decide about. */
export interface AskedCall {
  readonly ready: ReadyCall;
  readonly call: JudgedCall;
  readonly decision: Decision;
}

/** What came of asking; `again`: something has changed, and the call is to be judged anew. */
export type Verdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly decision: Decision; readonly refusal: string }
  | { readonly kind: 'again' };

/** Runs a wait in which the call is not at work. */
export type Waiting = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * What a person says of a call: the answer that its log holds for exactly this, or else it is asked for
 * and waited for. An answer is not returned but written down and the call judged anew, so that it
 * acts after a crash as it does now, and not on what the call has become meanwhile. Rejects when the
 * task is stopped while it waits.
 */
export async function askPerson(
  deps: EngineDeps,
  run: TaskRun,
  asked: AskedCall,
  waiting: Waiting,
): Promise<Verdict> {
  const { call } = asked.ready;
  if (run.permissions.rights.refusesQuestions === true) return unasked(asked, refusesToAsk(run));
  const digest = digestOf(asked);
  const known = run.state.questions.get(call.id);
  const isSame = known?.digest === digest && run.permissions.isTrusted(known.seq);
  if (isSame && known.answer !== null && run.permissions.isTrusted(known.answer.seq)) {
    const { answer } = known.answer;
    return answer.kind === 'no' ? denied(answer.reason) : { kind: 'allowed' };
  }
  if (isHalted(run.state)) return refused(`Not asked: ${haltedMessage(run.state)}.`);
  if (run.tree.onAsk === 'deny') return unasked(asked);
  if (isPartlyHidden(deps, run, asked)) return refused(HIDDEN);
  const question = openQuestion(run, { callId: call.id, digest }, (id) =>
    questionOf(deps, run, asked, id),
  );
  await waiting(() => deps.inbox.wait(run, question));
  return { kind: 'again' };
}

/** A rule that was given meanwhile lets it run: whoever was to answer need not. */
export function closeQuestion(run: TaskRun, { call }: ReadyCall): void {
  const known = run.state.questions.get(call.id);
  if (known?.question.kind !== 'permission' || known.answer !== null) return;
  run.journal.record({
    type: 'question.answered',
    question: known.question.id,
    callId: call.id,
    answer: { kind: 'once' },
    by: 'rule',
  });
}

function unasked({ decision }: AskedCall, why?: string): Verdict {
  return { kind: 'refused', decision, refusal: refuseUnanswered(decision, why) };
}

/** Why a task asks nobody anything, though somebody may be there: as a sentence. */
export function refusesToAsk(run: TaskRun): string {
  for (let at: TaskRun | null = run; at !== null; at = at.parent) {
    const { agent } = at.spec;
    if (agent.refusesQuestions === true) {
      return `It is not asked: the definition of \`${agent.name}\` wants what would be asked to be refused.`;
    }
  }
  return 'It is not asked: a task above wants what would be asked to be refused.';
}

function denied(reason: string | null): Verdict {
  const why = reason === null ? '' : `, and why: ${reason}`;
  return refused(`The user was asked and said no${why}`);
}

function refused(reason: string): Verdict {
  const text = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  return {
    kind: 'refused',
    decision: { verdict: 'deny', step: 'answer', reason: text },
    refusal: `Refused, nothing was done. ${text} Do not try the same another way; go on without it, and say so in your answer.`,
  };
}

function questionOf(
  deps: EngineDeps,
  run: TaskRun,
  { ready, call, decision }: AskedCall,
  id: string,
): PermissionQuestion {
  const { access, tool } = call;
  const rule = ruleToOffer(decision, { tool, rights: run.permissions.rights });
  const paths = [...new Set(pathsOf(access).map((path) => path.real))];
  const says = access.commands.length + paths.length + access.hosts.length > 0;
  return {
    kind: 'permission',
    id,
    task: run.spec.id,
    callId: ready.call.id,
    chain: run.chain(),
    tool,
    commands: access.commands,
    paths,
    hosts: access.hosts,
    edits: editsOf(ready, run),
    input: says ? null : JSON.stringify(ready.call.input),
    step: decision.step,
    reason: decision.reason,
    askedBy: decision.rule ?? null,
    rule,
    scopes: rule === null ? [] : deps.inbox.scopes,
    ...(decision.modeToGrant === undefined
      ? {}
      : {
          modeToGrant: {
            ...decision.modeToGrant,
            definition: grantedDefinition(run.spec.agent),
            scopes: deps.inbox.modeScopes,
          },
        }),
  };
}

function editsOf({ tool, input }: ReadyCall, run: TaskRun): readonly ProposedEdit[] {
  return tool.proposes?.(input, { cwd: run.spec.cwd }) ?? [];
}

const HIDDEN =
  'Not asked: what it would run holds a private key, or a secret of several words, and neither is ever shown, so nobody could see what they allow. Put the secret into a file or a variable, and name that';

/** Whether a person would not see all that runs, since secrets are redacted before they see it. */
function isPartlyHidden(deps: EngineDeps, run: TaskRun, asked: AskedCall): boolean {
  const { redact } = deps;
  const subject = questionSubject(questionOf(deps, run, asked, ''));
  return redact !== undefined && changesByRedaction(subject, redact);
}

/** Of all that a person is shown, and of what of it is too long to show. */
function digestOf({ ready, call, decision }: AskedCall): string {
  const { commands, reads, writes, hosts } = call.access;
  const touched = [reads, writes].map((paths) => paths.map(({ real }) => real));
  const said = [call.tool, ready.call.input, commands, touched, hosts, decision.step];
  return createHash('sha256').update(JSON.stringify(said)).digest('hex');
}
