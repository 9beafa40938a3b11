import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural, formatDuration } from '../../../../base/text.ts';
import type { ResultEnvelope } from '../../../../protocol/result.ts';
import { printAnswer } from '../../../../sys/print.ts';
import { factRows, type Fact } from '../../layout.ts';
import { printLines } from './print.ts';
import { isTaskAtWork } from './rows.ts';
import { timeLines, timelineLines } from './show-timeline.ts';
import { treeLines } from './show-tree.ts';
import { boardLines } from '../../../../report/board-lines.ts';
import { listReceiptRows } from '../../../../report/receipt-rows.ts';
import type { ReportedWorkspace, TaskReport } from '../../../../report/task-report.ts';
import {
  findTreeBoard,
  findTreeOverlaps,
  type TreeReport,
} from '../../../../report/tree-report.ts';
import { formatTurnLines } from '../../../../report/turn-lines.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';
import { systemClock } from '../../../../base/clock.ts';
import { taskAgeMs, steadyNow } from '../../../../protocol/state/steady-time.ts';
import { activityText, reusedText } from '../../../../api/index.ts';
import { formatCost } from '../../../../report/cost-text.ts';
import { openQuestions } from '../../../../protocol/state/questions.ts';
import { sumLedger, type UsageTotal, knownCost } from '../../../../protocol/state/ledger.ts';
import type { TurnRow } from '../../../../report/turn-rows.ts';

/** The maximum number of printed turns, and of printed items of each kind. */
const SHOWN_ITEMS = 20;
/** The width of the column of names; every name is shorter, so that a blank follows it. */
const NAME_WIDTH = 9;

interface ShownTask {
  readonly envelope: ResultEnvelope;
  readonly state: TaskState;
  readonly tree: TreeReport;
}

/** Returns what `muster tasks show --json` prints. */
export function reportJson({ envelope, state, tree }: ShownTask): object {
  const { chain } = state.spec.model;
  const ended_by = state.end?.by ?? null;
  const activity = isTaskAtWork(state) ? state.activity : null;
  const overlaps = findTreeOverlaps(tree);
  return {
    ...envelope,
    activity,
    ended_by,
    model_chain: chain,
    tree: { ...treeJson(tree), ...(overlaps.length === 0 ? {} : { overlaps }) },
  };
}

/** Prints a task: first what it is, then its outcome, then how it worked. */
export function printTaskReport({ envelope, state, tree }: ShownTask): void {
  const facts = summaryFacts(envelope, state, tree);
  printLines(...factRows(facts).map(([name, text]) => `${name.padEnd(NAME_WIDTH)}${text}`));
  const [top] = tree.rows;
  if (top !== undefined && top.report !== null) printWork(top.report, tree);
  // The answer comes last, so that no line of it can be mistaken for one of the other parts.
  printSection('Answer', ['']);
  printAnswer(`${envelope.data.result}\n`);
}

function printWork(report: TaskReport, tree: TreeReport): void {
  if (tree.rows.length > 1) printSection('Tree', treeLines(tree));
  const board = findTreeBoard(tree);
  if (board.length > 0) {
    const hint = `the texts: muster tasks board ${report.id} FINDING`;
    printSection('Board', [...boardLines(board, SHOWN_ITEMS), hint]);
  }
  printSection('Timeline', [...timelineLines(tree), ...timeLines(report)]);
  printSection('Turns', newestTurns(report, tree.from));
  printSection('Receipt', receiptLines(report));
}

function printSection(title: string, lines: readonly string[]): void {
  printLines('', title, ...lines);
}

/** Lists what happened according to the log. Each kind of items is named once, and its items have a line each. */
function receiptLines({ receipt }: TaskReport): readonly string[] {
  return listReceiptRows(receipt).flatMap(({ name, items }) => {
    // If nothing went wrong, the receipt does not mention it.
    if (items.length === 0 && (name === 'faults' || name === 'claims')) return [];
    const shown = items.slice(0, SHOWN_ITEMS).map(sanitizeLine);
    const more = items.length - shown.length;
    const all = [
      ...(items.length === 0 ? ['none'] : shown),
      ...(more === 0 ? [] : [`… and ${more} more: --json and --html FILE show them`]),
    ];
    return all.map((item, at) => `${(at === 0 ? name : '').padEnd(NAME_WIDTH)}${item}`);
  });
}

function newestTurns({ turns }: TaskReport, from: number): readonly string[] {
  const shown = turns.slice(-SHOWN_ITEMS);
  const more = turns.length - shown.length;
  const head = more === 0 ? [] : [`(${plural(more, 'turn')} before these: --json shows them)`];
  return [...head, ...formatTurnLines(shown, from).map(sanitizeLine)];
}

/** Lists the facts that are printed first. */
function summaryFacts(
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
    ['reused', state.reused === null ? null : reusedText(state.reused)],
    ['rewound', rewindText(tree)],
    ['model', data.model_used],
    ['chosen', state.spec.model.chain.join(' → ')],
    ['turns', String(data.turns)],
    ['tools', tools || 'none'],
    ['tokens', tokensText(reported)],
    ['cost', formatCost(reported)],
    ['estimate', estimated.answers === 0 ? null : useText(estimated)],
    ['tree', treeText(tree)],
    [
      'time',
      formatDuration(isTaskAtWork(state) ? taskAgeMs(state.lifetime, systemClock) : stats.time_ms),
    ],
    ...(data.workspace === undefined
      ? []
      : [
          ['works in', `${data.workspace.tree} (for ${data.workspace.source})`] as const,
          ['changes', tree.rows[0]?.report?.workspace?.state] as const,
        ]),
    ['log', data.transcript ?? 'not kept'],
    ['error', error === null ? null : `${error.code}: ${error.message}`],
  ];
}

/** Lists the modes that the user granted: to the task when it was created, and to agents while it ran. */
function modeFacts(state: TaskState): readonly Fact[] {
  const { modeGrants, modeWithoutGrant, spec } = state;
  const mode = `${spec.rights.mode} by your grant (without it: ${modeWithoutGrant ?? ''})`;
  return [
    ['mode', modeWithoutGrant === null ? null : mode],
    [
      'granted',
      modeGrants.map(({ grant }) => `${grant.agent}=${grant.mode} (${grant.source.where})`),
    ],
  ];
}

/** Describes the last rewind. */
function rewindText({ rows: [top] }: TreeReport): string | null {
  const last = top?.report?.rewinds.at(-1);
  if (last === undefined) return null;
  return `to event ${last.to}, with ${plural(last.files, 'file')} (event ${last.seq})`;
}

/** Describes what a task has used together with the tasks below it, if there are any. */
function treeText({ rows, reported, estimated }: TreeReport): string | null {
  if (rows.length === 1) return null;
  const about = estimated.answers === 0 ? '' : `; and about ${useText(estimated)}`;
  return `${plural(rows.length, 'task')}: ${tokensText(reported)}, ${formatCost(reported)}${about}`;
}

function tokensText({ usage }: UsageTotal): string {
  return `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cached`;
}

/** Describes usage that no provider reported. */
function useText(use: UsageTotal): string {
  const answers = plural(use.answers, 'answer');
  return `${tokensText(use)}, ${formatCost(use)} (estimated: ${answers} without usage)`;
}

/** Describes what a task is doing, or how it ended and who ended it. */
function progress(state: TaskState): readonly Fact[] {
  const { status, end } = state;
  if (end !== null) {
    return [
      ['status', `${status}: ${end.because}`],
      ['ended by', end.by],
    ];
  }
  const asks = openQuestions(state).map(({ id }) => id);
  return [
    ['status', status],
    [
      'doing',
      isTaskAtWork(state) ? activityText(state, steadyNow(state.lifetime, systemClock)) : null,
    ],
    ['asks', [...new Set([...asks, ...state.parkedOn])].join(', ') || null],
  ];
}

/** Describes a tree for programs: times are milliseconds since the epoch, and each receipt covers one task. */
function treeJson({ rows, from, to, reported, estimated }: TreeReport): object {
  return {
    from,
    to,
    reported: useJson(reported),
    estimated: useJson(estimated),
    tasks: rows.map(({ id, level, report, problem }) => ({
      task_id: id,
      level,
      problem,
      ...(report === null ? {} : taskJson(report)),
    })),
  };
}

function taskJson(report: TaskReport): object {
  const { parent, agent, description, status, model, receipt, workspace } = report;
  return {
    parent,
    subagent_type: agent,
    description,
    status,
    ended_because: report.end?.because ?? null,
    model_used: model,
    created: report.createdAt,
    until: report.until,
    tool_summary: report.tools,
    reported: useJson(report.reported),
    estimated: useJson(report.estimated),
    spans: report.spans,
    rewinds: report.rewinds,
    turns: report.turns.map(turnJson),
    receipt,
    ...(workspace === null ? {} : { workspace: workspaceJson(workspace) }),
    events: report.events,
  };
}

function workspaceJson({ kind, branch, state, landing, paths }: ReportedWorkspace): object {
  return { kind, branch, state, landing, changed: paths };
}

function turnJson(row: TurnRow): object {
  const { turn, at, ms, model, usage, isEstimated, isCut, costUsd, retries, calls, failure } = row;
  return {
    turn,
    at,
    ms,
    model,
    retries,
    calls,
    failure,
    usage,
    estimated: isEstimated,
    cost_usd: costUsd,
    rewound: isCut,
    ...(row.isSummary === undefined ? {} : { summary: true }),
  };
}

function useJson(use: UsageTotal): object {
  const { input, output, cacheRead, cacheWrite } = use.usage;
  return {
    answers: use.answers,
    usage: { input, output, cache_read: cacheRead, cache_write: cacheWrite },
    cost_usd: knownCost(use),
  };
}
