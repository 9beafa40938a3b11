import { systemClock } from '../../../../base/clock.ts';
import { taskAgeMs, steadyNow } from '../../../../protocol/state/steady-time.ts';
import { activityText, reusedText } from '../../../../api/index.ts';
import { costText } from '../../../../report/cost-text.ts';
import type { TreeReport } from '../../../../report/tree-report.ts';
import { formatDuration, plural } from '../../../../base/text.ts';
import { openQuestions } from '../../../../protocol/state/questions.ts';
import { sumLedger, type UsageTotal } from '../../../../protocol/state/ledger.ts';
import type { ResultEnvelope } from '../../../../protocol/result.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';
import { isTaskAtWork } from './rows.ts';

type Fact = readonly [name: string, value: string];

/** Lists what a person wants to know of a task first, in the order of the lines. */
export function summaryFacts(
  { data, stats, error }: ResultEnvelope,
  state: TaskState,
  tree: TreeReport,
): readonly Fact[] {
  const reported = sumLedger(state.ledger, { isEstimated: false });
  const estimated = sumLedger(state.ledger, { isEstimated: true });
  const tools = data.tool_summary.map(({ tool, count }) => `${tool} × ${count}`).join(', ');
  return [
    ['task', data.task_id],
    ['agent', data.subagent_type],
    ...progress(state),
    ...modeFacts(state),
    ...(state.reused === null ? [] : [['reused', reusedText(state.reused)] as const]),
    ...rewindFacts(tree),
    ['model', data.model_used],
    ['chosen', state.spec.model.chain.join(' → ')],
    ['turns', String(data.turns)],
    ['tools', tools || 'none'],
    ['tokens', tokensText(reported)],
    ['cost', costText(reported)],
    ...(estimated.answers === 0 ? [] : [['and about', useText(estimated)] as const]),
    ...treeFacts(tree),
    [
      'time',
      formatDuration(isTaskAtWork(state) ? taskAgeMs(state.lifetime, systemClock) : stats.time_ms),
    ],
    ['log', data.transcript ?? 'not kept'],
    ...(error === null ? [] : [['error', `${error.code}: ${error.message}`] as const]),
  ];
}

/** Lists the modes that the user granted: to the task when it was made, and to agents in it. */
function modeFacts(state: TaskState): readonly Fact[] {
  const { modeGrants, modeWithoutGrant, spec } = state;
  const own: readonly Fact[] =
    modeWithoutGrant === null
      ? []
      : [['mode', `${spec.rights.mode} by your grant (without it: ${modeWithoutGrant})`]];
  const given = modeGrants.map(({ grant }): Fact => [
    'granted',
    `${grant.agent}=${grant.mode} (${grant.source.where})`,
  ]);
  return [...own, ...given];
}

/** Describes the last rewind. */
function rewindFacts({ rows: [top] }: TreeReport): readonly Fact[] {
  const last = top?.report?.rewinds.at(-1);
  if (last === undefined) return [];
  const { seq, to, files } = last;
  return [['rewound', `to event ${to}, with ${plural(files, 'file')} (event ${seq})`]];
}

/** Describes what a task has used together with the tasks below it, if there are any. */
function treeFacts({ rows, reported, estimated }: TreeReport): readonly Fact[] {
  if (rows.length === 1) return [];
  const about = estimated.answers === 0 ? '' : `; and about ${useText(estimated)}`;
  return [
    [
      'tree',
      `${plural(rows.length, 'task')}: ${tokensText(reported)}, ${costText(reported)}${about}`,
    ],
  ];
}

function tokensText({ usage }: UsageTotal): string {
  return `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cached`;
}

/** Describes usage that no provider reported. */
function useText(use: UsageTotal): string {
  const answers = plural(use.answers, 'answer');
  return `${tokensText(use)}, ${costText(use)} (estimated: ${answers} without usage)`;
}

/** Describes what a task is doing, or how it ended and who ended it. */
function progress(state: TaskState): readonly Fact[] {
  const { status, end } = state;
  if (end === null) {
    const doing = isTaskAtWork(state)
      ? activityText(state, steadyNow(state.lifetime, systemClock))
      : null;
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
