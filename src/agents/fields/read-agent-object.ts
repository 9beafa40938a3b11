import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { normalizeLineEnds } from '../parsing/split-front-matter.ts';
import type { Fields } from '../parsing/fields.ts';
import type { FileDefinitions } from '../loader/format.ts';
import { readVisibleName } from './common.ts';
import { readAgent, type AgentDialect } from './read-agent.ts';

/** The place where a person wrote an agent as an object, for messages: `--agents`, `agents`. */
interface ObjectSource {
  readonly where: string;
  readonly dialect: AgentDialect;
}

/**
 * Reads an agent from an object with the fields of an agent file and the field `prompt`. An object that cannot be read is
 * reported in `problems`, with the path `session:NAME`.
 */
export function readAgentObject(
  name: string,
  entry: JsonValue,
  { where, dialect }: ObjectSource,
): FileDefinitions {
  const path = `session:${name}`;
  if (readVisibleName(name) === undefined) {
    return sessionProblem(path, `${where}: a name is empty; write \`{"NAME": {"prompt": …}}\`.`);
  }
  const prompt = isJsonObject(entry) ? entry['prompt'] : undefined;
  if (!isJsonObject(entry) || typeof prompt !== 'string' || prompt.trim() === '') {
    const message = `${where}: \`${name}\` must be an object with a \`prompt\` that is text.`;
    return sessionProblem(path, message);
  }
  const content = {
    fields: toFields(name, entry),
    name,
    prompt: normalizeLineEnds(prompt).trim(),
    problems: [],
  };
  const agent: AgentDefinition = readAgent(content, { path, scope: 'session' }, dialect);
  return { items: [agent], problems: [] };
}

/** Converts an object to fields. The key of the object is the agent's name, even if there is a `name` field. */
function toFields(name: string, entry: JsonObject): Fields {
  const fields = Object.entries(entry)
    .filter(([key]) => key !== 'prompt' && key !== 'name')
    .map(([key, value]) => [key, { value: value ?? null, line: undefined }] as const);
  return new Map([['name', { value: name, line: undefined }], ...fields]);
}

/** Creates the problem of agents that cannot be read. */
export function sessionProblem(path: string, message: string): FileDefinitions {
  return { items: [], problems: [{ code: 'invalid-session-agent', message, path }] };
}
