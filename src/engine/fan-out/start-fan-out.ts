import { MusterError, UsageError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { parseBody, renderPrompt } from '../../agents/templates/render.ts';
import { plural } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { FanOut } from '../../protocol/template.ts';
import { createTask } from '../delegation/create-task.ts';
import { prepareAgent } from '../prompt/prepare-agent.ts';
import { MAIN_AGENT } from '../task/main-agent.ts';
import { planChild, prepareModels } from '../delegation/plan-child.ts';
import type { TaskRun } from '../task/task-run.ts';
import { TaskTree } from '../task/task-tree.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { combineLimits } from '../limits/configured-limits.ts';
import { itemRequest } from './drive-items.ts';

/** A request to run a template over items, as the root of a new tree. */
export interface FanOutRequest {
  /** The id of the root. Default: a new one. */
  readonly id?: string;
  /** Has at least one item. */
  readonly fanOut: FanOut;
  /** The model of items that name none. */
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
}

/** Starts a template run. Rejects with UsageError if its first item could not start, since then none could. */
export async function startFanOut(engine: EngineContext, request: FanOutRequest): Promise<TaskRun> {
  const { deps } = engine;
  const { fanOut, model, rights, cwd } = request;
  const agent = runner(fanOut);
  const [item = ''] = fanOut.items;
  const values = { item, index: 0, count: fanOut.items.length };
  const child = itemRequest(fanOut, renderPrompt(parseBody(fanOut.body).parts, values));
  await prepareModels(deps, agent, child);
  const modeGrants = deps.inbox.modeGrants?.inForce() ?? [];
  const plan = planChild(deps, { agent, rights, model, cwd, modeGrants }, child);
  if (plan instanceof MusterError) {
    throw new UsageError(`the template ${fanOut.template} can't be run: ${plan.message}`);
  }
  const id = request.id ?? newId();
  const run = createTask(engine, new TaskTree(id, deps), {
    id,
    agent,
    rights,
    model,
    cwd,
    fanOut,
    limits: combineLimits({ config: deps.settings.rootLimits, definition: {}, call: {} }),
    setup: prepareAgent(deps, { agent, rights, cwd, isRoot: true, provider: model.provider }),
    description: plural(fanOut.items.length, 'item'),
    prompt: `Run the template ${fanOut.template} over ${plural(fanOut.items.length, 'item')}.`,
    handed: [],
    background: false,
    source: 'template',
    params: { template: fanOut.template, items: { ...fanOut.source } },
    parent: null,
  });
  engine.startLoop(run);
  return run;
}

/** Creates the agent definition of a template run. It has no prompt and no tools, since it asks no model. */
function runner({ template, path }: FanOut): AgentDefinition {
  return {
    ...MAIN_AGENT,
    name: template,
    description: 'Runs a template over items.',
    tools: { mode: 'allow', names: [] },
    contextFiles: false,
    origin: { ...MAIN_AGENT.origin, path },
  };
}
