import { hash } from 'node:crypto';
import {
  type Question,
  questionSubject,
  type Answer,
  type PermissionQuestion,
  type ProposedEdit,
} from '../../protocol/question.ts';
import { failure } from '../../tools/shared/output.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { listPaths, type ResolvedCall } from '../../policy/call.ts';
import { identifyDefinition } from '../../policy/mode-grants.ts';
import {
  decidePermissionQuestion,
  type AskingTask,
  type QuestionOutcome,
} from '../../policy/decide-question.ts';
import { chooseOfferedRule } from '../../policy/suggest-rule.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A call that a person is to decide about. */
interface AskedCall {
  readonly ready: ReadyCall;
  readonly call: ResolvedCall;
  readonly decision: Decision;
}

/** The result of asking a person; `again`: something has changed, and the call has to be decided anew. */
type AskResult = Exclude<QuestionOutcome, { kind: 'ask' }> | { readonly kind: 'again' };

/** Runs a wait in which the call is not at work. */
export type Waiting = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Asks a person about a call, unless the log already holds the answer to exactly this question. A new answer is not
 * returned: it is written to the log and the call is decided anew, so that the answer has the same effect after a
 * crash, and no effect on what the call has become meanwhile. Rejects when the task is stopped while it waits.
 */
export async function askPerson(
  deps: EngineDeps,
  run: TaskRun,
  asked: AskedCall,
  waiting: Waiting,
): Promise<AskResult> {
  const { call } = asked.ready;
  const digest = digestOf(asked);
  const outcome = decidePermissionQuestion({
    decision: asked.decision,
    task: askingTask(run),
    answer: findAnswer(run, call.id, digest),
    state: run.state,
    isPartlyHidden: () => isPartlyHidden(deps, run, asked),
  });
  if (outcome.kind !== 'ask') return outcome;
  const question = openQuestion(run, { callId: call.id, digest }, (id) =>
    questionOf(deps, run, asked, id),
  );
  await waiting(() => deps.inbox.wait(run, question));
  return { kind: 'again' };
}

/** Returns the answer to exactly this question from the log; null if there is none or it was written elsewhere. */
function findAnswer(run: TaskRun, callId: string, digest: string): Answer | null {
  const known = run.state.questions.get(callId);
  if (known?.digest !== digest || known.answer === null) return null;
  const isTrusted =
    run.permissions.isTrusted(known.seq) && run.permissions.isTrusted(known.answer.seq);
  return isTrusted ? known.answer.answer : null;
}

/** A question that a tool asks the user in one of its calls. */
interface ToolQuestion {
  readonly callId: string;
  /** Identifies the question: everything that the user is shown. */
  readonly content: string;
  /** Returns the output for the answer, or for what has happened meanwhile; null to ask or to wait. */
  output(answer: Answer | null, known: { readonly isAsked: boolean }): ToolOutput | null;
  /** Returns the reason why the question can't be asked; null if it can. */
  refuse(task: AskingTask): string | null;
  make(common: Pick<Question, 'id' | 'task' | 'callId' | 'chain'>): Question;
}

/**
 * Asks the user for a tool and waits for the answer. A call that runs again after a crash finds its question, and the
 * answer if there is one. Rejects when the task is stopped while it waits.
 */
export async function askForTool(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  run: TaskRun,
  { callId, content, output, refuse, make }: ToolQuestion,
): Promise<ToolOutput> {
  const digest = hash('sha256', content);
  for (;;) {
    const isAsked = run.state.questions.get(callId)?.digest === digest;
    const result = output(findAnswer(run, callId, digest), { isAsked });
    if (result !== null) return result;
    const refusal = refuse(askingTask(run));
    if (refusal !== null) return failure('PERMISSION_DENIED', refusal);
    const question = openQuestion(run, { callId, digest }, (id) =>
      make({ id, task: run.spec.id, callId, chain: run.chain() }),
    );
    await run.tree.idleDetector.trackWait(() => inbox.wait(run, question));
  }
}

/** Describes a task for the decision about a question. */
function askingTask(run: TaskRun): AskingTask {
  const agents = [run.spec.agent];
  for (let above = run.parent; above !== null; above = above.parent) agents.push(above.spec.agent);
  return {
    refusesQuestions: run.permissions.rights.refusesQuestions === true,
    agents,
    onAsk: run.tree.onAsk,
  };
}

/** Closes the open question about a call that a new rule allows. */
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

function questionOf(
  deps: EngineDeps,
  run: TaskRun,
  { ready, call, decision }: AskedCall,
  id: string,
): PermissionQuestion {
  const { access, tool } = call;
  const rule = chooseOfferedRule(decision, { tool, rights: run.permissions.rights });
  const paths = [...new Set(listPaths(access).map((path) => path.real))];
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
            definition: identifyDefinition(run.spec.agent),
            scopes: deps.inbox.modeScopes,
          },
        }),
  };
}

function editsOf({ tool, input }: ReadyCall, run: TaskRun): readonly ProposedEdit[] {
  return tool.proposes?.(input, { cwd: run.spec.cwd }) ?? [];
}

/** Returns true if a person would not see all that runs, since secrets are redacted before. */
function isPartlyHidden(deps: EngineDeps, run: TaskRun, asked: AskedCall): boolean {
  const { redact } = deps;
  const subject = questionSubject(questionOf(deps, run, asked, ''));
  return redact !== undefined && changesByRedaction(subject, redact);
}

/** Computes the digest of everything that a person decides about, also of what is too long to show. */
function digestOf({ ready, call, decision }: AskedCall): string {
  const { commands, reads, writes, hosts } = call.access;
  const touched = [reads, writes].map((paths) => paths.map(({ real }) => real));
  const said = [call.tool, ready.call.input, commands, touched, hosts, decision.step];
  return hash('sha256', JSON.stringify(said));
}

/**
 * Returns true when redaction removes more from a text than single words or parts of them. Otherwise a command could
 * be hidden between lines that look like the begin and the end of a private key.
 */
export function changesByRedaction(text: string, redact: (text: string) => string): boolean {
  return countWords(redact(text)) !== countWords(text);
}

/** The word before a bearer token, which is redacted together with the token. */
const BEARER = /[Bb]earer (?=eyJ)/g;

function countWords(text: string): number {
  const joined = text.replaceAll(REDACTED, '*').replaceAll(BEARER, '*');
  return joined.split(/\s+/).filter((word) => word !== '').length;
}

interface QuestionKey {
  readonly callId: string;
  readonly digest: string;
}

/**
 * Returns the open question of a call: the recorded one with the same digest, also from before a crash, or else a new
 * one, which is recorded. A question in an imported log is asked anew, since it may show something else
 * than the call does.
 */
function openQuestion(
  run: TaskRun,
  { callId, digest }: QuestionKey,
  make: (id: string) => Question,
): Question {
  const { state, journal, tree } = run;
  const known = state.questions.get(callId);
  const isOpen = known?.digest === digest && known.answer === null;
  if (isOpen && run.permissions.isTrusted(known.seq)) return known.question;
  const id = nextId(state);
  const parks = tree.onAsk === 'park';
  journal.record({ type: 'question.asked', question: make(id), digest, parks });
  // The recorded form, in which secrets are redacted.
  const asked = state.questions.get(callId);
  if (asked === undefined) throw new Error(`question ${id} is not in the state of its task`);
  return asked.question;
}

function nextId({ spec, questions, closedQuestions }: TaskState): string {
  const open = new Set([...questions.values()].map(({ question }) => question.id));
  for (let number = open.size + closedQuestions.size + 1; ; number += 1) {
    const id = `${spec.id}q${number}`;
    if (!open.has(id) && !closedQuestions.has(id)) return id;
  }
}
