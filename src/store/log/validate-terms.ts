import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { LIMITS, OPTIONAL_TASK_LIMITS } from '../../protocol/limits.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';

/**
 * Checks the rights, limits and model of a task, which both a specification and a change of terms contain. Damaged terms
 * must not be used, because a task without one of its rules or limits could do more than was decided.
 */
export function hasValidTerms({ rights, limits, model }: JsonObject): boolean {
  return areRights(rights) && areLimits(limits) && isModel(model);
}

export function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

export function isStringArray(value: unknown): boolean {
  return isArrayOf(value, (item) => typeof item === 'string');
}

export function isPermissionRule(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    typeof value['text'] === 'string' &&
    typeof value['tool'] === 'string' &&
    isJsonObject(value['source'])
  );
}

/** Checks the fields of an agent definition that every log version has. */
export function isAgentDefinition(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { name, aliases, description, prompt, tools, disallowedTools, limits, origin } = value;
  return (
    [name, description, prompt].every((each) => typeof each === 'string') &&
    isStringArray(aliases) &&
    isStringArray(disallowedTools) &&
    isJsonObject(limits) &&
    isJsonObject(origin) &&
    isJsonObject(tools) &&
    typeof tools['mode'] === 'string' &&
    isStringArray(tools['names'])
  );
}

function areRules(value: unknown): boolean {
  return isArrayOf(value, isPermissionRule);
}

function areRights(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value['rules'])) return false;
  const { mode, rules, roots, disallowedTools, callLimits, network, depth, maxDepth } = value;
  return (
    PERMISSION_MODES.some((each) => each === mode) &&
    [rules['allow'], rules['ask'], rules['deny']].every(areRules) &&
    isStringArray(roots) &&
    isStringArray(disallowedTools) &&
    typeof network === 'boolean' &&
    Number.isFinite(depth) &&
    Number.isFinite(maxDepth) &&
    (callLimits === undefined || isArrayOf(callLimits, isCallLimit))
  );
}

function isCallLimit(value: unknown): boolean {
  return isJsonObject(value) && isStringArray(value['tools']) && areRules(value['rules']);
}

function areLimits(value: unknown): boolean {
  if (!isJsonObject(value) || !Number.isFinite(value['resultMaxTokens'])) return false;
  const { maxTurns, maxTokens, wallMs } = value;
  return (
    [maxTurns, maxTokens, wallMs].every((each) => each === null || Number.isFinite(each)) &&
    OPTIONAL_TASK_LIMITS.map((name) => value[LIMITS[name].field]).every(
      (each) => each === undefined || Number.isFinite(each),
    )
  );
}

function isModel(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { provider, id, chain } = value;
  return typeof provider === 'string' && typeof id === 'string' && isStringArray(chain);
}
