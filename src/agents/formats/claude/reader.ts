import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Fields } from '../../parsing/fields.ts';
import { normalizeLineEnds } from '../../parsing/split-front-matter.ts';
import { HOOKS_FIELD, readHooksField } from '../../fields/hooks.ts';
import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import { readVisibleName } from '../../fields/common.ts';
import type { FormatReader, FileDefinitions } from '../../loader/format.ts';
import { readAgent, readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

const CLAUDE: AgentDialect = {
  vendor: 'claude',
  inactive: [SERVERS_FIELD],
  own: {
    names: [SERVERS_FIELD, HOOKS_FIELD],
    read: (reader, shared) => ({ ...readServerNames(reader, shared), ...readHooksField(reader) }),
  },
};

/** Reads Claude Code's `*.md` agents. */
export const claudeReader: FormatReader = { read: (file) => readMarkdownAgent(file, CLAUDE) };

/**
 * Reads the agents of `--agents JSON`, in Claude Code's format: `{"NAME": {"description", "prompt", "tools", "model",
 * …}}`. Entries that cannot be read are reported in `problems`, with the path `session:NAME`.
 */
export function parseSessionAgents(json: string): FileDefinitions {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return sessionProblem('session:', `--agents is not valid JSON: ${errorMessage(error)}`);
  }
  if (!isJsonObject(value)) {
    return sessionProblem('session:', '--agents must be a JSON object, {"NAME": {"prompt": …}}.');
  }
  const read = Object.entries(value).map(([name, entry]) => readSessionAgent(name, entry ?? null));
  return {
    items: read.flatMap(({ items }) => items),
    problems: read.flatMap(({ problems }) => problems),
  };
}

function readSessionAgent(name: string, entry: JsonValue): FileDefinitions {
  const path = `session:${name}`;
  if (readVisibleName(name) === undefined) {
    return sessionProblem(path, '--agents: a name is empty; write `{"NAME": {"prompt": …}}`.');
  }
  const prompt = isJsonObject(entry) ? entry['prompt'] : undefined;
  if (!isJsonObject(entry) || typeof prompt !== 'string' || prompt.trim() === '') {
    const message = `--agents: \`${name}\` must be an object with a \`prompt\` that is text.`;
    return sessionProblem(path, message);
  }
  const content = {
    fields: sessionFields(name, entry),
    name,
    prompt: normalizeLineEnds(prompt).trim(),
    problems: [],
  };
  const agent: AgentDefinition = readAgent(content, { path, scope: 'session' }, CLAUDE);
  return { items: [agent], problems: [] };
}

/** Converts an entry to fields. The key of the entry is the agent's name, even if there is a `name` field. */
function sessionFields(name: string, entry: JsonObject): Fields {
  const fields = Object.entries(entry)
    .filter(([key]) => key !== 'prompt' && key !== 'name')
    .map(([key, value]) => [key, { value: value ?? null, line: undefined }] as const);
  return new Map([['name', { value: name, line: undefined }], ...fields]);
}

function sessionProblem(path: string, message: string): FileDefinitions {
  return { items: [], problems: [{ code: 'invalid-session-agent', message, path }] };
}
