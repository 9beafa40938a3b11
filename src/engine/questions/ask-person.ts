import { hash } from 'node:crypto';
import {
  type Question,
  questionSubject,
  type Answer,
  type PermissionQuestion,
  type ProposedEdit,
} from '../../protocol/question.ts';
import { notifyByHooks } from '../hooks/run-hooks.ts';
import { failure } from '../../tools/shared/output.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import { listPaths, type ResolvedCall } from '../../policy/call.ts';
import { identifyDefinition } from '../../policy/mode-grants.ts';
import {
  decidePermissionQuestion,
  type AskingTask,
  type QuestionOutcome,
} from '../../policy/decide-question.ts';
import { chooseOfferedRules } from '../../policy/suggest-rule.ts';
import { canAcceptEdits } from './set-mode.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** A call about which a person must decide. */
interface AskedCall {
  readonly ready: ReadyCall;
  readonly call: ResolvedCall;
  readonly decision: Decision;
  /** The programs of its commands with their subcommands; an empty list if they are not known for certain. */
  readonly programs: readonly string[];
}

/** The result of asking a person. `again`: the call must be decided again, because its state may have changed. */
type AskResult = Exclude<QuestionOutcome, { kind: 'ask' }> | { readonly kind: 'again' };

/** Runs a wait during which the call does not count as work of its tree. */
export type WaitRunner = <T>(wait: () => Promise<T>) => Promise<T>;

/**
 * Asks a person about a call, unless the log already holds the answer to exactly this question. A new answer is not
 * returned: it is written to the log, and the result `again` makes the caller decide the call again. So the answer
 * has the same effect after a crash, and it has no effect on a call that has changed during the wait. Rejects when
 * the task is stopped during the wait.
 */
export async function askPerson(
  deps: EngineDeps,
  run: TaskRun,
  asked: AskedCall,
  runWait: WaitRunner,
): Promise<AskResult> {
  const { call } = asked.ready;
  const digest = computeQuestionDigest(asked);
  const outcome = decidePermissionQuestion({
    decision: asked.decision,
    task: describeAskingTask(run),
    answer: findAnswer(run, call.id, digest),
    state: run.state,
    isPartlyHidden: () => isPartlyHidden(deps, run, asked),
  });
  if (outcome.kind !== 'ask') return outcome;
  const question = openQuestion(run, { callId: call.id, digest }, (id) =>
    buildPermissionQuestion(deps, run, asked, id),
  );
  const message = `${question.description}: ${questionSubject(question)}`;
  notifyByHooks(deps, run, { type: 'permission_prompt', message });
  await runWait(() => deps.inbox.wait(run, question));
  return { kind: 'again' };
}

/**
 * Returns the answer of a person to exactly this question from the log. Returns null if there is no answer, and if the
 * question or the answer is in an imported part of the log, which is not trusted. That a rule or a mode once allowed the
 * call is no answer: after a crash it is decided anew.
 */
export function findAnswer(run: TaskRun, callId: string, digest: string): Answer | null {
  const recorded = run.state.questions.get(callId);
  if (recorded?.digest !== digest || recorded.answer?.by !== 'user') return null;
  const isTrusted =
    run.permissions.isTrusted(recorded.seq) && run.permissions.isTrusted(recorded.answer.seq);
  return isTrusted ? recorded.answer.answer : null;
}

/** A question that a tool asks the user in one of its calls. */
interface ToolQuestion {
  readonly callId: string;
  /** Everything that the user is shown. Its hash identifies the question. */
  readonly content: string;
  /**
   * Returns the output of the call once no wait is needed: the user has answered, or the question is no longer
   * relevant. Returns null to ask, or to continue to wait. `isAsked`: the question is in the log already.
   */
  output(answer: Answer | null, status: { readonly isAsked: boolean }): ToolOutput | null;
  /** Returns the reason why the question can't be asked; null if it can. */
  refuse(task: AskingTask): string | null;
  createQuestion(
    common: Pick<Question, 'id' | 'task' | 'callId' | 'chain' | 'description'>,
  ): Question;
}

/**
 * Asks the user a question for a tool and waits for the answer. A call that runs again after a crash finds its
 * question in the log, with the answer if the user has given one. Rejects when the task is stopped during the wait.
 */
export async function askForTool(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  run: TaskRun,
  { callId, content, output, refuse, createQuestion }: ToolQuestion,
): Promise<ToolOutput> {
  const digest = hash('sha256', content);
  for (;;) {
    const isAsked = run.state.questions.get(callId)?.digest === digest;
    const result = output(findAnswer(run, callId, digest), { isAsked });
    if (result !== null) return result;
    const refusal = refuse(describeAskingTask(run));
    if (refusal !== null) return failure('PERMISSION_DENIED', refusal);
    const question = openQuestion(run, { callId, digest }, (id) =>
      createQuestion({ id, task: run.spec.id, callId, chain: run.chain(), ...describeTask(run) }),
    );
    await run.tree.idleDetector.trackWait(() => inbox.wait(run, question));
  }
}

/** Collects the facts about a task that decide whether it may ask a question. */
export function describeAskingTask(run: TaskRun): AskingTask {
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
  const recorded = run.state.questions.get(call.id);
  if (recorded?.question.kind !== 'permission' || recorded.answer !== null) return;
  run.journal.record({
    type: 'question.answered',
    question: recorded.question.id,
    callId: call.id,
    answer: { kind: 'once' },
    by: 'rule',
  });
}

/** Records that nobody waits for the answer to the open question of a call or work. Returns false if none is open. */
export function withdrawServerQuestion(
  { state, journal }: Pick<TaskRun, 'state' | 'journal'>,
  callId: string,
): boolean {
  const open = state.questions.get(callId);
  if (open === undefined || open.answer !== null) return false;
  const answer = { kind: 'cancelled' } as const;
  const question = open.question.id;
  journal.record({ type: 'question.answered', question, callId, answer, by: 'server' });
  return true;
}

function buildPermissionQuestion(
  deps: EngineDeps,
  run: TaskRun,
  { ready, call, decision, programs }: AskedCall,
  id: string,
): PermissionQuestion {
  const { access, tool } = call;
  const offered = chooseOfferedRules(decision, { tool, rights: run.permissions.rights });
  // A redacted rule would mean other paths and commands than those of the call.
  const { redact = (text: string) => text } = deps;
  const isExact = offered.every((each) => redact(each) === each);
  const [rule = null, ...moreRules] = isExact ? offered : [];
  const paths = [...new Set(listPaths(access).map((path) => path.real))];
  const namesTargets = access.commands.length + paths.length + access.hosts.length > 0;
  return {
    kind: 'permission',
    id,
    task: run.spec.id,
    callId: ready.call.id,
    chain: run.chain(),
    ...describeTask(run),
    tool,
    commands: access.commands,
    paths,
    hosts: access.hosts,
    edits: listProposedEdits(ready, run),
    input: namesTargets ? null : JSON.stringify(ready.call.input),
    step: decision.step,
    reason: decision.reason,
    ...(ready.tool.serverSays === undefined ? {} : { serverSays: ready.tool.serverSays }),
    askedBy: decision.rule ?? null,
    rule,
    ...(moreRules.length === 0 ? {} : { moreRules }),
    scopes: rule === null ? [] : deps.inbox.scopes,
    ...(programs.length === 0 ? {} : { programs }),
    ...(decision.isAcceptedEdit === true && canAcceptEdits(run) ? { offersEdits: true } : {}),
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

/** Returns the description of a task for its questions. The main agent needs none. */
export function describeTask({ spec }: TaskRun): Pick<Question, 'description'> {
  return spec.parent === null ? {} : { description: spec.description };
}

function listProposedEdits({ tool, input }: ReadyCall, run: TaskRun): readonly ProposedEdit[] {
  return tool.proposes?.(input, { cwd: run.spec.cwd }) ?? [];
}

/**
 * Returns true if a person would not see everything that runs, because the question is redacted before it is shown.
 */
function isPartlyHidden(deps: EngineDeps, run: TaskRun, asked: AskedCall): boolean {
  const { redact } = deps;
  const subject = questionSubject(buildPermissionQuestion(deps, run, asked, ''));
  return redact !== undefined && losesWordsByRedaction(subject, redact);
}

/** Computes the digest of everything that a person decides about, including what is too long to be shown. */
function computeQuestionDigest({ ready, call, decision }: AskedCall): string {
  const { commands, reads, writes, hosts } = call.access;
  const touched = [reads, writes].map((paths) => paths.map(({ real }) => real));
  const content = [call.tool, ready.call.input, commands, touched, hosts, decision.step];
  return hash('sha256', JSON.stringify(content));
}

/**
 * Returns true when redaction removes more from a text than single words or parts of words. A command could otherwise
 * be hidden between lines that look like the beginning and the end of a private key.
 */
export function losesWordsByRedaction(text: string, redact: (text: string) => string): boolean {
  return countWords(redact(text)) !== countWords(text);
}

/** Matches the word before a bearer token: it is redacted together with the token. */
const BEARER = /[Bb]earer (?=eyJ)/g;

function countWords(text: string): number {
  const joined = text.replaceAll(REDACTED, '*').replaceAll(BEARER, '*');
  return joined.split(/\s+/).filter((word) => word !== '').length;
}

interface QuestionIdentity {
  readonly callId: string;
  readonly digest: string;
}

/**
 * Returns the open question of a call. If the log has an open question with the same digest, perhaps from before a
 * crash, that question is returned; otherwise a new question is created and recorded. A question in an imported part
 * of the log is not reused, since its text may differ from what the call does.
 */
export function openQuestion(
  run: TaskRun,
  { callId, digest }: QuestionIdentity,
  createQuestion: (id: string) => Question,
): Question {
  const { state, journal, tree } = run;
  const recorded = state.questions.get(callId);
  const isOpen = recorded?.digest === digest && recorded.answer === null;
  if (isOpen && run.permissions.isTrusted(recorded.seq)) return recorded.question;
  const id = createQuestionId(state);
  const parks = tree.onAsk === 'park';
  journal.record({ type: 'question.asked', question: createQuestion(id), digest, parks });
  // Return the question as it was recorded: the secrets in it are redacted.
  const redacted = state.questions.get(callId);
  if (redacted === undefined) throw new Error(`question ${id} is not in the state of its task`);
  return redacted.question;
}

/**
 * Creates an id that no question of the task has ever had, so that an answer to an old question never answers a new one.
 */
function createQuestionId({ spec, askedQuestions }: TaskState): string {
  return `${spec.id}q${askedQuestions + 1}`;
}
