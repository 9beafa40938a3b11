import { MusterError, UsageError } from '../../base/errors.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import {
  chooseModel,
  chooseNamedModel,
  invalidModel,
  prependStep,
  type ModelChoice,
  type ModelSetup,
  type ModelUser,
} from './choose-model.ts';
import {
  idFromDisplayName,
  isDisplayName,
  splitModelNames,
  type FindKnownId,
} from './display-name.ts';
import type { ModelSettings } from '../model-settings.ts';
import { findVendorByModelId } from '../providers/providers.ts';

/**
 * The model of the main agent: flag, then `[models] default`, then the balanced tier; `offline`
 * where none is named and none configured. Throws UsageError for one that is named and can't be.
 */
export function resolveMainModel(setup: ModelSetup, user: ModelUser): ResolvedModel {
  const { wish, where } = mainWish(setup.settings);
  const choice = chooseModel(wish, setup, user);
  if (choice instanceof MusterError) {
    // A variable that names a model only in part may be why the model is not there.
    const problems = [choice.message, ...(setup.problems ?? [])].join('\n');
    throw new UsageError(`${where}: ${problems}`);
  }
  return toResolvedModel(choice, `${where}: ${wish}`);
}

function mainWish(settings: ModelSettings): { wish: string; where: string } {
  if (settings.flag !== undefined) return { wish: settings.flag, where: '--model' };
  if (settings.default !== undefined) return { wish: settings.default, where: 'models.default' };
  return { wish: 'balanced', where: 'no model named' };
}

export interface TaskModelRequest extends ModelUser {
  /** From the Task call. */
  readonly call: string | undefined;
  /** From the agent's definition: the first that can be had. */
  readonly definition: readonly string[];
  readonly parent: ResolvedModel;
  /** False: a definition's model is binding. */
  readonly allowOverride: boolean;
  /** Absent: a display name of a vendor's model is believed. */
  readonly knownId?: FindKnownId;
}

/** The model of a delegated task. An error is INVALID_PARAM and about the call alone. */
export function resolveTaskModel(
  setup: ModelSetup,
  wish: TaskModelRequest,
): ResolvedModel | MusterError {
  const { call, definition, parent } = wish;
  if (call !== undefined) {
    const choice = chooseModel(call, setup, wish, parent);
    if (choice instanceof MusterError) return invalidModel(`model: ${choice.message}`);
    const model = toResolvedModel(choice, `call: ${call}`);
    return wish.allowOverride ? model : binding(model, fromDefinition(setup, wish));
  }
  if (definition.length === 0) return inherit(parent, 'inherit');
  return fromDefinition(setup, wish);
}

/** The first that can be had of all that it names; else its parent's, and a warning says why. */
function fromDefinition(setup: ModelSetup, wish: TaskModelRequest): ResolvedModel {
  const { agent, definition, parent } = wish;
  const wishes = definition.flatMap(splitModelNames);
  const passed: string[] = [];
  let because: string | null = null;
  for (const named of wishes) {
    const choice = chooseWished(named, setup, wish);
    if (!(choice instanceof MusterError)) {
      const { chain, ...model } = toResolvedModel(choice, `${agent.name}: ${named}`);
      return { ...model, chain: [...passed, ...chain] };
    }
    because ??= choice.message;
    passed.push(`${agent.name}: ${named}: not usable`);
  }
  const asked = (wishes.length === 0 ? definition : wishes).map((named) => `"${named}"`).join(', ');
  const warning = `${agent.name} asks for the model ${asked}, which is not usable (${because ?? 'it names none'}); its parent's is used`;
  const { chain, ...model } = inherit(parent, 'inherit');
  return { ...model, chain: [...passed, ...chain.slice(1)], warning };
}

/** What a file says may be the name that an editor shows for a model. */
function chooseWished(
  named: string,
  setup: ModelSetup,
  wish: TaskModelRequest,
): ModelChoice | MusterError {
  const word = named.trim();
  const isListed = setup.providers.some(
    ({ models, tiers }) => models?.includes(word) === true || Object.values(tiers).includes(word),
  );
  if (isListed || !isDisplayName(word)) return chooseModel(word, setup, wish, wish.parent);
  const id = idFromDisplayName(word);
  const vendor = findVendorByModelId(id);
  if (vendor === null) {
    // A server's own id may have capitals, but hardly blanks.
    if (!/\s/.test(word)) return chooseModel(word, setup, wish, wish.parent);
    return invalidModel(`"${word}" is no id of a model, and no name of a known one`);
  }
  const known = wish.knownId === undefined ? id : wish.knownId(vendor, id);
  if (known === null) return invalidModel(`no model of ${vendor} is known by this name`);
  return prependStep(`"${word}" is ${known}`, chooseNamedModel(known, setup));
}

function binding(model: ResolvedModel, bound: ResolvedModel): ResolvedModel | MusterError {
  if (model.provider === bound.provider && model.id === bound.id) return model;
  return invalidModel(
    `model: this agent's model is fixed to ${bound.provider}/${bound.id} (task_tool.allow_model_override is false)`,
  );
}

function inherit(parent: ResolvedModel, step: string): ResolvedModel {
  const { provider, id, tier } = parent;
  const chain = [step, `parent: ${provider}/${id}`];
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain };
}

export function toResolvedModel(
  { provider, id, tier, steps }: ModelChoice,
  wish: string,
): ResolvedModel {
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain: [wish, ...steps] };
}
