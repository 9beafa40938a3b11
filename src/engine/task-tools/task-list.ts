import type { JsonValue } from '../../base/json.ts';
import { byteLength, plural, truncate, collapseWhitespace } from '../../base/text.ts';
import { findOverlaps, formatOverlaps } from '../../protocol/state/overlaps.ts';
import { viewWorkspace } from '../../protocol/state/workspace-view.ts';
import {
  listWaitingChanges,
  readWorkspaces,
  type TaskWithWorkspace,
} from '../delegation/descendant-workspaces.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { listVisibleTasks, type VisibleTask } from '../delegation/visible-tasks.ts';
import { activityText } from '../../protocol/state/task-texts.ts';
import { describeRemoteEnd, describeShellEnd } from '../../protocol/state/task-texts.ts';
import { shortenCommand } from '../shells/shell-end.ts';
import { ArgumentReader } from './argument-reader.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import { fitLines } from '../../tools/shared/output.ts';

const MAX_LINES = 100;
/** The bytes reserved for the line that says how many tasks are left out. */
const NOTE_BYTES = 100;

/** Creates the tool that lists all tasks and shells that a task can see, as a tree with their states. */
export function taskListTool(engine: EngineContext): Tool<null> {
  return {
    name: 'TaskList',
    kind: 'meta',
    replay: 'pure',
    description: 'Your subagents and background shells: id, status, type, turns.',
    inputSchema: { type: 'object', properties: {} },
    parse,
    run: async (_, context) => listTasks(engine, context),
  };
}

function parse(value: JsonValue): ValidationResult<null> {
  return new ArgumentReader(value, []).result(null);
}

async function listTasks(engine: EngineContext, context: ToolContext): Promise<ToolOutput> {
  const caller = requireCaller(engine, context);
  const workspaces = await readWorkspaces(engine, caller);
  const lines = formatTaskTree(engine, caller, workspaces);
  if (lines.length === 0) return { text: 'No task or shell of yours.' };
  const overlaps = formatOverlaps(findOverlaps(listWaitingChanges(workspaces)), OVERLAP_BYTES);
  const room = Math.max(0, context.caps.resultBytes - NOTE_BYTES - byteLength(overlaps.join('\n')));
  const shown = fitLines(lines.slice(0, MAX_LINES), room).lines;
  const hidden = lines.length - shown.length;
  const note = hidden === 0 ? [] : [`[${hidden} more; what has not ended comes first]`];
  return { text: [...shown, ...note, ...overlaps].join('\n') };
}

/** The maximum number of bytes about files that several tasks have changed. */
const OVERLAP_BYTES = 2_000;

/** The maximum length of a description, in code points. */
const MAX_DESCRIPTION_LENGTH = 80;

interface TreeNode {
  readonly id: string;
  /** The parent of the task or the owner of the shell; null if it is not known. */
  readonly parent: string | null;
  readonly hasEnded: boolean;
  readonly line: string;
}

/**
 * Returns a line for each task and shell that a task can see, indented below its parent or owner. On each level the
 * ones that have not ended come first, then the ended ones, the newest first.
 */
function formatTaskTree(
  engine: EngineContext,
  { state }: TaskRun,
  workspaces: ReadonlyMap<string, TaskWithWorkspace>,
): readonly string[] {
  const visible = [...listVisibleTasks(state, engine.running).values()];
  const summaries = readSummaries(engine, visible);
  const nodes = visible.map((each) =>
    each.kind === 'shell'
      ? buildShellNode(engine, each)
      : buildTaskNode(engine, each.id, { summaries, workspaces }),
  );
  const ids = new Set(nodes.map(({ id }) => id));
  const levels = Map.groupBy(nodes, ({ parent }) =>
    parent !== null && ids.has(parent) ? parent : null,
  );
  const lines: string[] = [];
  const addBelow = (parent: string | null, indent: string): void => {
    for (const { id, line } of sortNodes(levels.get(parent) ?? [])) {
      lines.push(indent + line);
      addBelow(id, `${indent}  `);
    }
  };
  addBelow(null, '');
  return lines;
}

function sortNodes(level: readonly TreeNode[]): readonly TreeNode[] {
  const ended = level.filter(({ hasEnded }) => hasEnded);
  return [...level.filter(({ hasEnded }) => !hasEnded), ...ended.toReversed()];
}

/** Reads the index entries of tasks that do not run in this process, so that no log has to be read. */
function readSummaries(
  { deps, running }: EngineContext,
  visible: readonly VisibleTask[],
): ReadonlyMap<string, TaskSummary> {
  const isRunning = ({ id, kind }: VisibleTask) =>
    kind === 'shell' || running.get(id) !== undefined;
  if (visible.every(isRunning)) return new Map();
  return new Map(deps.store.list().map((task) => [task.id, task]));
}

function buildTaskNode(
  { running }: EngineContext,
  id: string,
  {
    summaries,
    workspaces,
  }: {
    readonly summaries: ReadonlyMap<string, TaskSummary>;
    readonly workspaces: ReadonlyMap<string, TaskWithWorkspace>;
  },
): TreeNode {
  const state = running.get(id)?.state;
  const summary = summaries.get(id);
  const workspace = workspaces.get(id);
  if (state !== undefined) {
    const { spec, status, turns } = state;
    const activity = status === 'running' || status === 'parked' ? activityText(state) : null;
    return {
      id,
      parent: spec.parent,
      hasEnded: state.end !== null,
      line: formatTaskNode(id, {
        status: activity === null ? status : `${status} (${activity})`,
        agent: spec.agent.name,
        turns,
        description: spec.description,
        workspace,
      }),
    };
  }
  if (summary === undefined) return { id, parent: null, hasEnded: true, line: `${id} lost` };
  return {
    id,
    parent: summary.parent,
    hasEnded: true,
    line: formatTaskNode(id, { ...summary, workspace }),
  };
}

interface ListedTask extends Pick<TaskSummary, 'agent' | 'turns' | 'description'> {
  readonly status: string;
  readonly workspace: TaskWithWorkspace | undefined;
}

function formatTaskNode(
  id: string,
  { status, agent, turns, description, workspace }: ListedTask,
): string {
  const view = workspace === undefined ? null : viewWorkspace(workspace.state, workspace.landing);
  return [
    `${id} ${status}`,
    agent,
    plural(turns, 'turn'),
    ...(view === null ? [] : [`${view.kind}: ${view.state}`]),
    shortenDescription(description),
  ].join(' · ');
}

function buildShellNode(
  { running }: EngineContext,
  { id, owner }: Extract<VisibleTask, { kind: 'shell' }>,
): TreeNode {
  const shell = running.get(owner)?.state.shells.get(id);
  const end = shell?.end ?? null;
  const isRemote = shell !== undefined && shell.remote !== null;
  const describeEnd = isRemote ? describeRemoteEnd : describeShellEnd;
  const status = end === null ? 'running' : describeEnd(end);
  return {
    id,
    parent: owner,
    hasEnded: end !== null,
    line: `${id} ${status} · ${isRemote ? 'call' : 'shell'} · ${shortenCommand(shell?.command ?? '')}`,
  };
}

function shortenDescription(text: string): string {
  const line = collapseWhitespace(text);
  const shown = truncate(line, MAX_DESCRIPTION_LENGTH);
  return shown.length < line.length ? `${shown}…` : shown;
}
