import { modelName } from '../../protocol/model.ts';
import { commandModelEvents } from '../turn/command-model.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { hasHooks, queueContext, runHooks } from './run-hooks.ts';

/** The model of which hooks were told last, by task. */
const toldModels = new WeakMap<TaskRun, string>();

/**
 * Changes the model before a request that contains a new message of a person, if its slash command or its end asks for that, and
 * tells hooks of any change since the newest request.
 */
export async function changeModel(deps: EngineDeps, run: TaskRun): Promise<void> {
  const events = commandModelEvents(run.state);
  if (events.length > 0) run.journal.record(...events);
  await runModelHooks(deps, run);
}

/**
 * Runs the hooks of a change of the model before the first request to it. Hooks may refuse a model that a person or a slash
 * command chose: the model before it then goes on. They cannot refuse a model that replaces a failed one.
 */
async function runModelHooks(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { state, journal } = run;
  const { rights, limits, model } = run.spec;
  const from = state.conversation.model;
  const to = modelName(model);
  if (from === '' || from === to || state.openTurn !== null || toldModels.get(run) === to) return;
  const fields = { from_model: from, to_model: to };
  const matched = model.id;
  if (hasHooks(deps, run, 'PreModelSwitch') && state.activation.failedModels.length === 0) {
    const { block } = await runHooks(deps, run, { event: 'PreModelSwitch', matched, fields });
    if (block !== undefined) {
      const [provider = '', ...rest] = from.split('/');
      const kept = { provider, id: rest.join('/'), chain: [`a hook refused ${to}`] };
      const message = `a hook refused the change to ${to}, so ${from} goes on: ${block}`;
      const { modelMessage, conversation } = state;
      const isAsked = conversation.queued.some(({ id }) => id === modelMessage);
      const forMessage = isAsked && modelMessage !== null ? { forMessage: modelMessage } : {};
      journal.record(
        { type: 'terms.changed', rights, limits, model: kept, ...forMessage },
        { type: 'warning', message },
      );
      return;
    }
  }
  toldModels.set(run, to);
  const said = await runHooks(deps, run, { event: 'PostModelSwitch', matched, fields });
  queueContext(run, `model-${state.turns}-${to}`, said.context);
}
