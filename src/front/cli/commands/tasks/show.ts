import { activityText, type ShellRun, type Tasks } from '../../../../api/index.ts';
import { formatDuration, plural, truncate } from '../../../../base/text.ts';
import { costText } from '../../../../api/cost-text.ts';
import { totalUse, type Use } from '../../../../protocol/ledger.ts';
import { openQuestions } from '../../../../protocol/inbox-state.ts';
import type { Receipt, ResultEnvelope } from '../../../../protocol/result.ts';
import type { TaskState } from '../../../../protocol/state.ts';
import { stderrNotice } from '../../stderr.ts';
import { printAnswer, printText } from '../../../../sys/print.ts';
import { printJson, printLines } from './print.ts';

/** Code points of a command that stand in one line. */
const SHOWN_COMMAND = 80;

interface TaskShow {
  readonly id: string;
  readonly json: boolean;
}

/** `muster tasks show`. JSON: the result envelope, with what the task is doing, who ended it, and how its model was chosen. */
export async function showTask(tasks: Tasks, { id, json }: TaskShow): Promise<number> {
  for (const problem of tasks.problems(id)) stderrNotice(problem);
  const state = tasks.state(id);
  const envelope = tasks.envelope(state);
  const activity = isAtWork(state) ? state.activity : null;
  if (json) {
    const { chain } = state.spec.model;
    const ended_by = state.end?.by ?? null;
    printJson({ ...envelope, activity, ended_by, model_chain: chain });
    return 0;
  }
  const facts = factsOf(envelope, state, await treeFacts(tasks, state));
  printLines(...facts.map(([name, value]) => `${name.padEnd(9)}${value}`));
  printText('\n');
  printAnswer(`${envelope.data.result}\n`);
  return 0;
}

function isAtWork({ status }: TaskState): boolean {
  return status === 'running' || status === 'queued' || status === 'parked';
}

type Fact = readonly [string, string];

function factsOf(
  { data, stats, error }: ResultEnvelope,
  state: TaskState,
  tree: readonly Fact[],
): readonly Fact[] {
  const { receipt } = data;
  const reported = totalUse(state.ledger, { isEstimated: false });
  const estimated = totalUse(state.ledger, { isEstimated: true });
  const tools = data.tool_summary.map(({ tool, count }) => `${tool} × ${count}`).join(', ');
  return [
    ['task', data.task_id],
    ['agent', data.subagent_type],
    ...progress(state),
    ['model', data.model_used],
    ['chosen', state.spec.model.chain.join(' → ')],
    ['turns', String(data.turns)],
    ['tools', tools || 'none'],
    ['tokens', tokensText(reported)],
    ['cost', costText(reported)],
    ...(estimated.answers === 0 ? [] : [['and about', useText(estimated)] as const]),
    ...tree,
    ['time', formatDuration(isAtWork(state) ? Date.now() - state.createdAt : stats.time_ms)],
    ['changed', data.files_modified.join(', ') || 'nothing'],
    ['children', receipt.children.join(', ') || 'none'],
    ['shells', receipt.shells.map(shellLine).join('; ') || 'none'],
    ['refused', receipt.refusals.join('; ') || 'nothing'],
    ...(receipt.faults.length === 0 ? [] : [['faults', faultsLine(receipt)] as const]),
    ['log', data.transcript ?? 'not kept'],
    ...(error === null ? [] : [['error', `${error.code}: ${error.message}`] as const]),
  ];
}

/** What it has used with all below it; nothing where nothing is. */
async function treeFacts(tasks: Tasks, { spec, children }: TaskState): Promise<readonly Fact[]> {
  if (children.size === 0) return [];
  const { total } = await tasks.usage({ by: 'tree', since: null, task: spec.id });
  const { reported, estimated } = total;
  const about = estimated.answers === 0 ? '' : `; and about ${useText(estimated)}`;
  return [
    [
      'tree',
      `${plural(total.tasks, 'task')}: ${tokensText(reported)}, ${costText(reported)}${about}`,
    ],
  ];
}

function tokensText({ usage }: Use): string {
  return `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cached`;
}

/** Of what no provider told. */
function useText(use: Use): string {
  const answers = plural(use.answers, 'answer');
  return `${tokensText(use)}, ${costText(use)} (estimated: ${answers} without usage)`;
}

function faultsLine({ faults }: Receipt): string {
  return faults.map(({ fault, count }) => `${fault} × ${count}`).join(', ');
}

/** How far it has come: what it is doing, or how it ended and who ended it. */
function progress(state: TaskState): readonly Fact[] {
  const { status, end } = state;
  if (end === null) {
    const doing = isAtWork(state) ? activityText(state, Date.now()) : null;
    const asks = openQuestions(state).map(({ id }) => id);
    const waits = [...new Set([...asks, ...state.parkedOn])];
    return [
      ['status', status],
      ...(doing === null ? [] : [['doing', doing] as const]),
      ...(waits.length === 0 ? [] : [['asks', waits.join(', ')] as const]),
    ];
  }
  const by: readonly Fact[] = end.by === null ? [] : [['ended by', end.by]];
  return [['status', `${status}: ${end.because}`], ...by];
}

function shellLine({ id, command, end, exitCode }: ShellRun): string {
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  const line = truncate(command.replaceAll(/\s+/g, ' '), SHOWN_COMMAND);
  return `${id} (${line}): ${end ?? 'running'}${code}`;
}
