import { MusterError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { findDueHooks, matchConditions, type DueHook } from '../../hooks/due-hooks.ts';
import { describeAction, type HookDefinition } from '../../hooks/hook-definition.ts';
import { createHookRunner, type HookRunner } from '../../hooks/hook-runner.ts';
import { callHookFields, endHookFields, outcomeHookFields } from '../../protocol/hook-fields.ts';
import {
  CALL_HOOK_EVENTS,
  type HookEventName,
  type HookOccasion,
  type HookOutcome,
  type HookTask,
} from '../../protocol/hook.ts';
import { listHookOccasions, type RecordedOccasion } from '../../report/hook-occasions.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import { loadWebAccess } from '../setup/web.ts';
import { confineHooks, openSessionHooks, readSessionHooks } from '../session/session-hooks.ts';
import { readSessionConfig, type SessionConfig } from '../session/session-config.ts';
import { openSessionSandbox } from '../session/session-sandbox.ts';
import type { SessionOptions } from '../setup/options.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { readHookCondition } from '../../trust/hook-conditions.ts';
import { readTree } from '../tasks/read-tree.ts';
import {
  findDefinitionHooks,
  readOccasionHooks,
  selectDefinitionHooks,
} from '../setup/definition-hooks.ts';
import { createConditionMatch } from './recorded-call.ts';

/** The hooks that ran on one occasion, and what they said together. */
export interface HookTrial {
  readonly occasion: Pick<HookOccasion, 'event' | 'matched'>;
  /** The task, for a recorded one; null for a sample. */
  readonly task: { readonly id: string; readonly agentType: string } | null;
  /** The number of the event in the log of the task; null for a sample. */
  readonly seq: number | null;
  /** The hooks that ran, in their order. */
  readonly hooks: readonly { readonly where: string; readonly what: string }[];
  readonly outcome: HookOutcome;
}

/** The occasion that a person describes on the command line. */
export interface SampleOccasion {
  readonly event: HookEventName;
  /**
   * The tool, the agent, the slash command, the MCP server, or the text of the message. Default: `Bash`, `worker`, `review`,
   * `server`, `Hello`.
   */
  readonly value?: string;
  /** The arguments of the call, or further fields of the occasion. Default: none. */
  readonly input?: JsonObject;
}

type TrialOptions = Pick<SessionOptions, 'cwd' | 'dataDir' | 'environment' | 'onNotice'>;

/** The ids of the sample task. No log has them. */
const SAMPLE_ID = 'sample';
/** The maximum number of recorded tasks whose hooks are tried (`hook_replay_tasks`). */
const MAX_TASKS = 500;

/** Runs the hooks of one event with a sample, as they run in a task. Their effects are real. */
export async function tryHooks(sample: SampleOccasion, options: TrialOptions): Promise<HookTrial> {
  const session = await readSessionConfig(options);
  const sandbox = openSessionSandbox(session, false);
  const web = loadWebAccess(session.environment);
  const runner = await openSessionHooks(session, { sandbox, web });
  const occasion = addConditionMatch(describeSample(sample, session), session);
  const { hooks } = await readSessionHooks(session);
  const { agentType } = occasion.task;
  const definitions = selectDefinitionHooks(await findHooksOf(session), { agentType, skills: [] });
  return await runTrial(runner, hooks, {
    occasion: { ...occasion, definitions },
    task: null,
    seq: null,
  });
}

/**
 * Runs the hooks on each occasion that a recorded task and all tasks below it had. The hooks run in a sandbox in which they
 * change nothing and reach no network, also those of the user's own settings, and requests are not sent. Calls `onTrial` for
 * each occasion on which a hook ran. Throws `NOT_FOUND` for an unknown task, and `UNSUPPORTED` without a sandbox.
 */
export async function replayHooks(
  prefix: string,
  onTrial: (trial: HookTrial) => void,
  options: TrialOptions,
): Promise<void> {
  const session = await readSessionConfig(options);
  const { hooks } = await readSessionHooks(session);
  const sandbox = openSessionSandbox(session, false);
  const state = await sandbox.state();
  if (!state.on) {
    throw new MusterError(
      'PERMISSION_DENIED',
      `hooks are tried on a recorded task only in a sandbox, where they change nothing, and there is none: ${state.because}. To get one: ${state.hint}`,
    );
  }
  const runner = createHookRunner({
    hooks,
    clock: systemClock,
    readCondition: readHookCondition,
    onLostFailure: session.onNotice,
    env: session.environment,
    projectDirectory: session.roots[0],
    confinement: () => Promise.resolve(confineHooks(session, sandbox, 'read-only')),
    confinesOwn: true,
    send: () => Promise.reject(new Error('a trial on a recorded task sends nothing')),
  });
  const store = openDataDirectory({
    dataDir: session.directory,
    durability: 'safe',
    onProblem: session.onNotice,
  });
  try {
    const found = await findHooksOf(session);
    for (const recorded of await readOccasions(store, prefix, session.onNotice)) {
      const { task, seq, skills } = recorded;
      const { agentType } = task;
      const definitions = selectDefinitionHooks(found, { agentType, skills });
      const occasion = { ...addConditionMatch(recorded, session), definitions };
      if ((await listDueHooks(hooks, occasion)).length === 0) continue;
      onTrial(await runTrial(runner, hooks, { occasion, task, seq }));
    }
  } finally {
    await runner.close();
    await store.close();
  }
}

/** Finds the hooks of the agents and skills of a session, as their files are now. */
function findHooksOf({ roots: [cwd], environment, trust, plugins }: SessionConfig) {
  return findDefinitionHooks({ cwd, environment, trust, plugins: plugins.definitions });
}

interface PlacedOccasion extends Pick<HookTrial, 'task' | 'seq'> {
  readonly occasion: HookOccasion;
}

async function runTrial(
  runner: HookRunner,
  hooks: readonly HookDefinition[],
  { occasion, task, seq }: PlacedOccasion,
): Promise<HookTrial> {
  const { event, matched } = occasion;
  const outcome = await runner.run(occasion, new AbortController().signal);
  return {
    occasion: { event, matched },
    task: task === null ? null : { id: task.id, agentType: task.agentType },
    seq,
    hooks: (await listDueHooks(hooks, occasion)).map(({ hook }) => ({
      where: hook.source.where,
      what: describeAction(hook.action),
    })),
    outcome,
  };
}

async function listDueHooks(
  hooks: readonly HookDefinition[],
  occasion: HookOccasion,
): Promise<readonly DueHook[]> {
  const all = [...hooks, ...readOccasionHooks(occasion.definitions)];
  return findDueHooks(all, occasion, await matchConditions(all, occasion));
}

/** Adds the comparison of conditions to an occasion that is about a call. */
function addConditionMatch(occasion: HookOccasion, { state }: SessionConfig): HookOccasion {
  const { event, matched, task, fields } = occasion;
  if (matched === null || !CALL_HOOK_EVENTS.has(event)) return occasion;
  const call = { tool: matched, input: fields['tool_input'] ?? {}, cwd: task.cwd };
  return { ...occasion, matchCondition: createConditionMatch(call, toRealPath(state.home)) };
}

function describeSample(
  { event, value, input = {} }: SampleOccasion,
  session: SessionConfig,
): HookOccasion {
  const isChild = event === 'SubagentStart' || event === 'SubagentStop';
  const agentType = isChild ? (value ?? 'worker') : 'main';
  const task: HookTask = {
    id: SAMPLE_ID,
    rootId: SAMPLE_ID,
    parentId: isChild ? SAMPLE_ID : null,
    agentType,
    depth: isChild ? 1 : 0,
    cwd: session.roots[0],
    mode: session.loaded.config.permissions.mode,
    logFile: '',
    rootLogFile: '',
  };
  if (CALL_HOOK_EVENTS.has(event)) {
    const tool = value ?? 'Bash';
    const fields = { ...callHookFields({ id: SAMPLE_ID, tool, input }), ...describeOutcome(event) };
    return { event, task, matched: tool, fields };
  }
  if (event === 'UserPromptSubmit')
    return { event, task, matched: null, fields: { ...input, prompt: value ?? 'Hello' } };
  if (event === 'UserPromptExpansion') {
    const name = value ?? 'review';
    const typed = { expansion_type: 'slash_command', command_name: name, command_args: '' };
    return { event, task, matched: name, fields: { ...typed, prompt: `/${name}`, ...input } };
  }
  if (event === 'Elicitation' || event === 'ElicitationResult') {
    const server = value ?? 'server';
    return { event, task, matched: server, fields: { mcp_server_name: server, ...input } };
  }
  if (event === 'Stop' || event === 'SubagentStop') {
    const fields = { ...endHookFields('', { isRepeated: false }), ...input };
    return { event, task, matched: isChild ? agentType : null, fields };
  }
  return { event, task, matched: isChild ? agentType : (value ?? null), fields: input };
}

/** The outcome of the sample call, for the events after a call. */
function describeOutcome(event: HookEventName): JsonObject {
  if (event === 'PermissionDenied') return { reason: 'A rule refuses this call.' };
  if (event === 'PostToolUse') return outcomeHookFields('', null);
  return event === 'PostToolUseFailure' ? outcomeHookFields('It failed.', 'INTERNAL_ERROR') : {};
}

/** Reads the occasions of a tree, by their time. */
async function readOccasions(
  store: TaskStore,
  prefix: string,
  onNotice: (line: string) => void,
): Promise<readonly RecordedOccasion[]> {
  const top = store.resolveId(prefix);
  const found: { readonly ts: number; readonly occasion: RecordedOccasion }[] = [];
  const skipped = await readTree(store, top, {
    maxTasks: MAX_TASKS,
    onTask: ({ spec: { id, parent, root, agent, rights, cwd } }) => {
      const events: TaskEvent[] = [];
      store.scan(id, (event) => void events.push(event));
      const task = {
        id,
        rootId: root,
        parentId: parent,
        agentType: agent.name,
        depth: rights.depth,
        cwd,
        logFile: store.logPath(id) ?? '',
        rootLogFile: store.logPath(root) ?? '',
      };
      const times = new Map(events.map(({ seq, ts }) => [seq, ts]));
      for (const occasion of listHookOccasions(task, events))
        found.push({ ts: times.get(occasion.seq) ?? 0, occasion });
    },
  });
  if (skipped.length > 0)
    onNotice(`${skipped.length} tasks were left out (limit hook_replay_tasks = ${MAX_TASKS})`);
  return found.toSorted((one, other) => one.ts - other.ts).map(({ occasion }) => occasion);
}
