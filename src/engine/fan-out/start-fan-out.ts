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
import { combineLimits } from '../limits/limits.ts';
import { MAIN_AGENT } from '../task/main-agent.ts';
import { planChild, prepareModels } from '../delegation/plan-child.ts';
import type { TaskRun } from '../task/task-run.ts';
import { Tree } from '../task/tree.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { itemRequest } from './drive-items.ts';

/** A template over items to run: the root of a new tree. */
export interface FanOutRequest {
  /** Default: a new one. */
  readonly id?: string;
  /** With one item at least. */
  readonly fanOut: FanOut;
  /** What items inherit that name no model. */
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
}

/** Rejects with UsageError where the first item could not be begun: then none could. */
export async function startFanOut(engine: EngineContext, request: FanOutRequest): Promise<TaskRun> {
  const { deps } = engine;
  const { fanOut, model, rights, cwd } = request;
  const agent = runner(fanOut);
  const [item = ''] = fanOut.items;
  const place = { item, index: 0, count: fanOut.items.length };
  const wish = itemRequest(fanOut, renderPrompt(parseBody(fanOut.body).parts, place));
  await prepareModels(deps, agent, wish);
  const modeGrants = deps.inbox.modeGrants?.inForce() ?? [];
  const plan = planChild(deps, { agent, rights, model, cwd, modeGrants }, wish);
  if (plan instanceof MusterError) {
    throw new UsageError(`the template ${fanOut.template} can't be run: ${plan.message}`);
  }
  const id = request.id ?? newId();
  const run = createTask(engine, new Tree(id, deps), {
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

/** Stands where an agent would: it has no prompt and no tools, since it asks no model. */
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
