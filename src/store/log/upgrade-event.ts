import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { LOG_VERSION } from '../../protocol/events/event.ts';
import { NO_USAGE } from '../../protocol/model.ts';

/** An event of any version in today's form. */
export function upgradeEvent(value: unknown): unknown {
  if (!isJsonObject(value) || isOfToday(value)) return value;
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

/** Also of today's version is a specification without an agent type that somebody wrote by hand. */
function isOfToday({ v, type, spec }: JsonObject): boolean {
  if (v !== LOG_VERSION) return false;
  return type !== 'task.created' || !isJsonObject(spec) || hasAgentName(spec);
}

function hasAgentName({ agent }: JsonObject): boolean {
  return isJsonObject(agent) && typeof agent['name'] === 'string' && agent['name'] !== '';
}

/** Without an agent type it ran `general-purpose`; without rights it has none but to ask. */
function upgradeSpec(spec: JsonObject): JsonObject {
  const { agent } = spec;
  const known = isJsonObject(agent) ? agent : {};
  const name = hasAgentName(spec) ? known['name'] : DEFAULT_AGENT.name;
  const { limits, rights } = spec;
  return {
    ...EARLIEST_SPEC,
    ...spec,
    rights: {
      ...EARLIEST_RIGHTS,
      roots: [spec['cwd'] ?? '/'],
      depth: spec['depth'] ?? 0,
      ...(isJsonObject(rights) ? rights : {}),
    },
    limits: { ...EARLIEST_LIMITS, ...(isJsonObject(limits) ? limits : {}) },
    agent: { ...DEFAULT_AGENT, ...known, name },
  };
}

/** What earlier versions of a specification may lack. */
const EARLIEST_SPEC: JsonObject = {
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

const EARLIEST_LIMITS: JsonObject = {
  maxTurns: null,
  maxTokens: null,
  wallMs: null,
  resultMaxTokens: 2_000,
};

/** Nothing granted: what has effects is asked for. */
const EARLIEST_RIGHTS: JsonObject = {
  mode: 'default',
  rules: { allow: [], ask: [], deny: [] },
  disallowedTools: [],
  network: false,
  maxDepth: 0,
};

/** What a log from before agent types, or without one, is taken to have run. */
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
