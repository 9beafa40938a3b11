import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { REDACTED } from '../../protocol/redaction.ts';

const recorded = new WeakMap<AgentDefinition, AgentDefinition>();

/**
 * Returns a definition as the log of a task keeps it, with the texts in `extra` redacted. Nothing uses `extra`, and
 * it may hold the keys and passwords of servers and hooks, which no list of secrets knows.
 */
export function recordedAgent(agent: AgentDefinition): AgentDefinition {
  if (Object.keys(agent.extra).length === 0) return agent;
  const known = recorded.get(agent);
  if (known !== undefined) return known;
  const made = { ...agent, extra: withoutTexts(agent.extra) };
  recorded.set(agent, made);
  return made;
}

function withoutTexts(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, withoutText(value ?? null)]),
  );
}

function withoutText(value: JsonValue): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutText(item));
  return isJsonObject(value) ? withoutTexts(value) : REDACTED;
}
