import { listNamesOnOneLine } from '../../base/terminal-text.ts';
import { plural, truncate } from '../../base/text.ts';
import { MusterError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ProposedEdit } from '../../protocol/question.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type {
  AnyTool,
  ChangePlan,
  FileChange,
  PlanContext,
  Tool,
  ToolContext,
  ToolOutput,
  ValidationResult,
} from '../../protocol/tool.ts';
import { LANDING_TOOL } from '../../protocol/tool-names.ts';
import type { LandingConflict, LandingProposal, WorkspacePort } from '../../protocol/workspace.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { outputErrors } from '../../tools/shared/define-tool.ts';
import { listKnownDescendants } from '../delegation/deliver-end.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { findVisibleTask, readTaskState } from '../delegation/visible-tasks.ts';
import { createLandingCheck } from '../workspace/landing-check.ts';
import { ArgumentReader, failedCall, TASK_ID_ALIASES } from './argument-reader.ts';

const ACTIONS = ['diff', 'apply', 'discard'] as const;
type LandingAction = (typeof ACTIONS)[number];

interface LandInput {
  readonly task: string;
  readonly action: LandingAction;
}

/** Creates the tool that shows, merges or drops what a descendant left in its workspace. */
export function taskLandTool(engine: EngineContext): Tool<LandInput> {
  const tool: Tool<LandInput> = {
    name: LANDING_TOOL,
    kind: 'meta',
    replay: 'checkable',
    description:
      'Show, merge into your files, or drop what a task of yours left in its own worktree.',
    inputSchema: {
      type: 'object',
      properties: {
        task_id: { type: 'string' },
        action: { type: 'string', enum: [...ACTIONS] },
      },
      required: ['task_id', 'action'],
    },
    parse,
    describe: () => NO_ACCESS,
    changePlan: {
      isNeeded: ({ action }) => action === 'apply',
      make: async (input, context) => await planLanding(engine, tool, input, context),
    },
    run: async (input, context) => await showOrDiscard(engine, input, context),
  };
  return tool;
}

function parse(value: JsonValue): ValidationResult<LandInput> {
  const args = new ArgumentReader(value, ['task_id', 'action'], TASK_ID_ALIASES);
  const task = args.text('task_id', 'the id of a task of yours, or the beginning of one');
  const given = args.text('action', ACTIONS.join(', '));
  const action = ACTIONS.find((each) => each === given.toLowerCase());
  if (action === undefined && args.issues.length === 0)
    args.issues.push(`action: must be ${ACTIONS.join(', ')}, not ${JSON.stringify(given)}`);
  return args.result({ task, action: action ?? 'diff' });
}

/** A descendant that has a workspace. */
interface LandableTask {
  readonly id: string;
  readonly spec: TaskSpec;
  readonly workspaces: WorkspacePort;
}

/** Finds the ended descendant that a call names. Returns the error of the call if there is none with a workspace. */
async function findLandableTask(
  engine: EngineContext,
  { taskId }: Pick<ToolContext, 'taskId'>,
  { task: reference, action }: LandInput,
): Promise<LandableTask | MusterError> {
  const { deps, running } = engine;
  const caller = requireCaller(engine, { taskId });
  const found = findVisibleTask(caller, running, { field: 'task_id', reference });
  if (found instanceof MusterError) return found;
  const { id } = found;
  const isBelow = listKnownDescendants(caller.state).includes(id);
  const state = found.kind === 'task' && isBelow ? readTaskState(engine, id) : null;
  if (state === null || state instanceof MusterError || state.spec.workspace === undefined) {
    const message = `task_id: ${id} is no task of yours with a worktree`;
    return new MusterError('NOT_FOUND', message);
  }
  if (action !== 'diff' && running.get(id) !== undefined) {
    const message = `task_id: ${id} is still running; wait for its end (TaskOutput) or stop it (TaskStop)`;
    return new MusterError('CONFLICT', message);
  }
  const { workspaces } = deps;
  if (workspaces === undefined)
    return new MusterError('NOT_FOUND', 'there are no workspaces in this session');
  await workspaces.prepare();
  return { id, spec: state.spec, workspaces };
}

async function showOrDiscard(
  engine: EngineContext,
  input: LandInput,
  context: ToolContext,
): Promise<ToolOutput> {
  return await outputErrors(LANDING_TOOL, context, async () => {
    const found = await findLandableTask(engine, context, input);
    if (found instanceof MusterError) return failedCall(LANDING_TOOL, found);
    const { id, workspaces } = found;
    if (input.action === 'discard') {
      if (requireCaller(engine, context).permissions.rights.mode === 'plan') {
        const message = 'action: discard deletes work, which plan mode does not allow';
        return failedCall(LANDING_TOOL, new MusterError('PERMISSION_DENIED', message));
      }
      await workspaces.discard(id, context.signal);
      return { text: `The changes of task ${id} and its worktree are deleted.` };
    }
    return { text: await workspaces.diff(id, context.caps.resultBytes, context.signal) };
  });
}

/** Merges the changes of a task with the present files. The call is then decided as an edit of all these files. */
async function planLanding(
  engine: EngineContext,
  tool: AnyTool,
  input: LandInput,
  context: PlanContext,
): Promise<ChangePlan> {
  try {
    const found = await findLandableTask(engine, context, input);
    if (found instanceof MusterError) return refuse(found);
    const { id, spec, workspaces } = found;
    const caller = requireCaller(engine, context);
    const check = createLandingCheck(engine.deps, caller, spec.accept, context.signal);
    const proposal = await workspaces.proposeLanding(id, { signal: context.signal, check });
    if (!proposal.ok) {
      return { ok: false, error: 'CONFLICT', text: formatConflicts(id, proposal.conflicts) };
    }
    const paths = proposal.files.map(({ path }) => path);
    return {
      ok: true,
      input: proposal,
      access: { ...NO_ACCESS, reads: paths, writes: paths },
      tool: {
        ...tool,
        kind: 'edit',
        replay: 'opaque',
        proposes: proposeEdits,
        run: (planned: ReadyLanding, runContext: ToolContext) =>
          outputErrors(LANDING_TOOL, runContext, () => land(id, planned, runContext)),
      },
    };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return refuse(thrown);
  }
}

function refuse({ code, message }: MusterError): ChangePlan {
  return { ok: false, error: code, text: `${LANDING_TOOL}: ${message}` };
}

type ReadyLanding = Extract<LandingProposal, { ok: true }>;

/** Lists the changes for the person who is asked. A file that is no text is named only. */
function proposeEdits({ files }: ReadyLanding): readonly ProposedEdit[] {
  return files.map(({ path, before, after }) => ({
    path,
    before: toText(before),
    after: toText(after) ?? '',
    everywhere: false,
  }));
}

/** Returns the content of a text file; null if there is no file or it is not text. */
function toText(content: Buffer | null): string | null {
  return content === null || content.includes(0) ? null : content.toString('utf8');
}

async function land(id: string, planned: ReadyLanding, context: ToolContext): Promise<ToolOutput> {
  if (planned.files.length === 0)
    return { text: `Your files contain all changes of task ${id} already.` };
  const changed: FileChange[] = [];
  for (const { path, before, after } of planned.files) {
    const hash = after === null ? null : hashContent(after);
    if (before !== null && !isSecretPath(path)) await context.keepFormer?.(before);
    if (hash === null) context.files.willRemove(path);
    else context.files.willWrite(path, hash);
    const former = before === null ? null : hashContent(before);
    // The task has not read the merged files.
    changed.push({ path, before: former, after: hash, ...(hash === null ? {} : { unread: true }) });
  }
  const { kept, checkInputs } = await planned.land();
  const names = changed.map(({ path }) => displayPath(path, context.cwd));
  const listed = names.slice(0, MAX_LISTED_FILES).join(', ');
  const more = names.length - MAX_LISTED_FILES;
  return {
    text: `Merged the changes of task ${id} into ${plural(names.length, 'file')}: ${listed}${more > 0 ? ` and ${more} more` : ''}.${formatCheckInputs(checkInputs)}${kept === null ? '' : ` Its worktree stays: ${kept}.`}`,
    facts: { changed },
  };
}

const MAX_LISTED_FILES = 50;

/** Tells the model which files of the task may have decided about the check of its work. */
function formatCheckInputs(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  return ` The check of the merged files used these as the task left them: ${listNamesOnOneLine(paths, MAX_LISTED_FILES)}.`;
}

const MAX_CONFLICT_LENGTH = 20_000;

function formatConflicts(id: string, conflicts: readonly LandingConflict[]): string {
  const parts = conflicts.map(({ path, reason, hunks }) =>
    [`${JSON.stringify(path)}: ${reason}`, hunks].filter((part) => part !== '').join('\n'),
  );
  const list = truncate(parts.join('\n\n'), MAX_CONFLICT_LENGTH);
  return `Nothing was changed: ${plural(conflicts.length, 'file')} of task ${id} cannot be merged with yours. Resume the task with the conflicts, change your files, or discard its changes.\n\n${list}`;
}
