import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import { visibleTasks, type VisibleTask } from './visible-tasks.ts';
import { briefCommand, describeEnd } from '../shells/shell-end.ts';
import { activityText } from '../results/task-report.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from './engine-context.ts';

/** Code points of a description. */
const SHOWN_LENGTH = 80;

interface Node {
  readonly id: string;
  /** The task that it belongs to, as far as it is known. */
  readonly parent: string | null;
  readonly hasEnded: boolean;
  readonly line: string;
}

/**
 * All that a task can reach, a line each, indented below the task that it belongs to. On each level what
 * has not ended comes first, then what has, the newest first.
 */
export function taskTreeText(engine: EngineContext, { state }: TaskRun): readonly string[] {
  const reach = [...visibleTasks(state, engine.running).values()];
  const summaries = summariesOf(engine, reach);
  const nodes = reach.map((each) =>
    each.kind === 'shell' ? shellNode(engine, each) : taskNode(engine, each.id, summaries),
  );
  const ids = new Set(nodes.map(({ id }) => id));
  const levels = Map.groupBy(nodes, ({ parent }) =>
    parent !== null && ids.has(parent) ? parent : null,
  );
  const lines: string[] = [];
  const addBelow = (parent: string | null, indent: string): void => {
    for (const { id, line } of inOrder(levels.get(parent) ?? [])) {
      lines.push(indent + line);
      addBelow(id, `${indent}  `);
    }
  };
  addBelow(null, '');
  return lines;
}

function inOrder(level: readonly Node[]): readonly Node[] {
  const ended = level.filter(({ hasEnded }) => hasEnded);
  return [...level.filter(({ hasEnded }) => !hasEnded), ...ended.toReversed()];
}

/** Of those that are not at work here: the index tells of them, and no log need be read. */
function summariesOf(
  { deps, running }: EngineContext,
  reach: readonly VisibleTask[],
): ReadonlyMap<string, TaskSummary> {
  const isAtWork = ({ id, kind }: VisibleTask) => kind === 'shell' || running.get(id) !== undefined;
  if (reach.every(isAtWork)) return new Map();
  return new Map(deps.store.list().map((task) => [task.id, task]));
}

function taskNode(
  { running }: EngineContext,
  id: string,
  summaries: ReadonlyMap<string, TaskSummary>,
): Node {
  const state = running.get(id)?.state;
  const summary = summaries.get(id);
  if (state !== undefined) {
    const { spec, status, turns } = state;
    const doing = status === 'running' || status === 'parked' ? activityText(state) : null;
    return {
      id,
      parent: spec.parent,
      hasEnded: state.end !== null,
      line: taskLine(id, {
        status: doing === null ? status : `${status} (${doing})`,
        agent: spec.agent.name,
        turns,
        description: spec.description,
      }),
    };
  }
  if (summary === undefined) return { id, parent: null, hasEnded: true, line: `${id} lost` };
  return { id, parent: summary.parent, hasEnded: true, line: taskLine(id, summary) };
}

function taskLine(
  id: string,
  task: {
    readonly status: string;
    readonly agent: string;
    readonly turns: number;
    readonly description: string;
  },
): string {
  const { status, agent, turns, description } = task;
  return [`${id} ${status}`, agent, plural(turns, 'turn'), brief(description)].join(' · ');
}

function shellNode(
  { running }: EngineContext,
  { id, owner }: Extract<VisibleTask, { kind: 'shell' }>,
): Node {
  const shell = running.get(owner)?.state.shells.get(id);
  const end = shell?.end ?? null;
  const status = end === null ? 'running' : describeEnd(end);
  return {
    id,
    parent: owner,
    hasEnded: end !== null,
    line: `${id} ${status} · shell · ${briefCommand(shell?.command ?? '')}`,
  };
}

function brief(text: string): string {
  const line = collapseWhitespace(text);
  const shown = truncate(line, SHOWN_LENGTH);
  return shown.length < line.length ? `${shown}…` : shown;
}
