import { isJsonObject } from '../../../base/json.ts';
import { errorMessage } from '../../../base/errors.ts';
import { HOOKS_FIELD, readHooksField } from '../../fields/hooks.ts';
import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import type { FormatReader, FileDefinitions } from '../../loader/format.ts';
import { readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';
import { readAgentObject, sessionProblem } from '../../fields/read-agent-object.ts';

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
  const source = { where: '--agents', dialect: CLAUDE };
  const read = Object.entries(value).map(([name, entry]) =>
    readAgentObject(name, entry ?? null, source),
  );
  return {
    items: read.flatMap(({ items }) => items),
    problems: read.flatMap(({ problems }) => problems),
  };
}
