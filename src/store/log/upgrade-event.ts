import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { LOG_VERSION } from '../../protocol/events/event.ts';
import { NO_USAGE } from '../../protocol/model.ts';

/** Converts an event of any log version to the current form. */
export function upgradeEvent(value: unknown): unknown {
  if (!isJsonObject(value) || isCurrent(value)) return value;
  switch (value['type']) {
    case 'task.created':
      return isJsonObject(value['spec']) ? { ...value, spec: upgradeSpec(value['spec']) } : value;
    case 'terms.changed':
      return isJsonObject(value['rights'])
        ? { ...value, rights: { network: false, ...value['rights'] } }
        : value;
    case 'call.refused':
      return { decision: null, ...value };
    case 'child.created':
      return { background: false, ...value };
    case 'turn.retried':
    case 'turn.failed':
      return { usage: NO_USAGE, ...value };
    case 'child.ended':
      return { spent: { tokens: 0, costUsd: 0 }, below: [], ...value };
    case 'task.ended':
      return isJsonObject(value['end']) ? { ...value, end: { by: null, ...value['end'] } } : value;
    default:
      return value;
  }
}

/**
 * Checks whether an event needs no upgrade. A hand-written log may have the current version and still lack the agent
 * type.
 */
function isCurrent({ v, type, spec }: JsonObject): boolean {
  if (v !== LOG_VERSION) return false;
  return type !== 'task.created' || !isJsonObject(spec) || hasAgentName(spec);
}

function hasAgentName({ agent }: JsonObject): boolean {
  return isJsonObject(agent) && typeof agent['name'] === 'string' && agent['name'] !== '';
}

/**
 * Fills in missing fields. Without an agent type, the agent is `general-purpose`; without rights, every action with
 * effects must be asked for.
 */
function upgradeSpec(spec: JsonObject): JsonObject {
  const { agent } = spec;
  const loggedAgent = isJsonObject(agent) ? agent : {};
  const name = hasAgentName(spec) ? loggedAgent['name'] : DEFAULT_AGENT.name;
  const { limits, rights } = spec;
  return {
    ...DEFAULT_SPEC,
    ...spec,
    rights: {
      ...DEFAULT_RIGHTS,
      roots: [spec['cwd'] ?? '/'],
      depth: spec['depth'] ?? 0,
      ...(isJsonObject(rights) ? rights : {}),
    },
    limits: { ...DEFAULT_LIMITS, ...(isJsonObject(limits) ? limits : {}) },
    agent: { ...DEFAULT_AGENT, ...loggedAgent, name },
  };
}

/** Values for fields that specifications of earlier versions may lack. */
const DEFAULT_SPEC: JsonObject = {
  parent: null,
  parentCall: null,
  prompt: '',
  tools: [],
  prefix: '',
  handed: [],
  background: false,
  source: 'cli',
  params: {},
};

const DEFAULT_LIMITS: JsonObject = {
  maxTurns: null,
  maxTokens: null,
  wallMs: null,
  resultMaxTokens: 2_000,
};

/** Grants nothing: every action with effects has to be asked for. */
const DEFAULT_RIGHTS: JsonObject = {
  mode: 'default',
  rules: { allow: [], ask: [], deny: [] },
  disallowedTools: [],
  network: false,
  maxDepth: 0,
};

/** The agent of a log without an agent type. */
const DEFAULT_AGENT = {
  name: 'general-purpose',
  aliases: [],
  description: '',
  prompt: '',
  tools: { mode: 'all', names: [] },
  disallowedTools: [],
  permissionMode: null,
  mode: null,
  limits: {},
  origin: { scope: 'builtin', vendor: 'muster', path: 'builtin:general-purpose' },
  extra: {},
  problems: [],
} as const satisfies AgentDefinition;
