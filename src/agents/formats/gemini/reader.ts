import { basename } from 'node:path';
import { isJsonObject } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { toSafeMessage, type Field, type Fields } from '../../parsing/fields.ts';
import { splitFrontMatter } from '../../parsing/split-front-matter.ts';
import { parseStrict } from '../../parsing/strict-yaml.ts';
import { readA2aServer } from '../../fields/a2a.ts';
import { readSingleLine } from '../../fields/common.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import {
  nameFromPath,
  readAgent,
  readMarkdownAgent,
  type AgentDialect,
} from '../../fields/read-agent.ts';

/** The fields that only remote agents have. */
const REMOTE_FIELDS = ['agent_card_url', 'agent_card_json', 'auth'] as const;

const GEMINI: AgentDialect = {
  vendor: 'gemini',
  inactive: ['display_name', 'mcp_servers', 'temperature', 'kind'],
  translate: removeLocalKind,
  own: { names: REMOTE_FIELDS, read: readRemoteAgent },
};

/** Reads Gemini CLI's `*.md` agents, local and remote. */
export const geminiReader: FormatReader = { read: readGemini };

async function readGemini(file: DefinitionFile): Promise<FileDefinitions> {
  const { path } = file;
  if (basename(path).startsWith('_')) {
    const message = 'Gemini CLI does not read files whose names begin with `_`.';
    return { items: [], problems: [{ code: 'not-an-agent', message, path }] };
  }
  return (await readList(file)) ?? readMarkdownAgent(file, GEMINI);
}

/** Removes `kind: local`, which is the default. */
function removeLocalKind(fields: Fields): Fields {
  return readSingleLine(fields.get('kind')?.value)?.toLowerCase() === 'local'
    ? new Map([...fields].filter(([key]) => key !== 'kind'))
    : fields;
}

/**
 * Reads the server of a remote agent. An agent with a field for remote agents is remote, even without `kind: remote`. As
 * in Gemini CLI, the body of its file has no meaning.
 */
function readRemoteAgent(reader: FieldReader): Partial<AgentDefinition> {
  const isRemote = readSingleLine(reader.peek('kind')?.value)?.toLowerCase() === 'remote';
  const kind = isRemote ? reader.take('kind') : undefined;
  const [url, json, auth] = REMOTE_FIELDS.map((name) => reader.take(name));
  const field = kind ?? url ?? json ?? auth;
  if (field === undefined) return {};
  const server =
    (url === undefined) === (json === undefined)
      ? 'A remote agent needs either `agent_card_url` or `agent_card_json`.'
      : readA2aServer((url ?? json)?.value, auth?.value);
  if (typeof server !== 'string') return { prompt: '', remote: server };
  reader.warn('invalid-remote', server, field.line);
  return { prompt: '', unusable: server };
}

/** Reads a file with several remote agents, whose front matter is a list. Returns undefined if it is not a list. */
async function readList(file: DefinitionFile): Promise<FileDefinitions | undefined> {
  const split = splitFrontMatter(file.text);
  if (split.kind !== 'found' || !/^\s*- /.test(split.yaml)) return undefined;
  const { path } = file;
  const read = await parseStrict(`agents:\n${split.yaml}`, split.yamlLine - 1);
  const entries = read.ok ? read.fields.get('agents')?.value : undefined;
  if (!Array.isArray(entries)) {
    const cause = read.ok ? 'not a list of agents' : read.message;
    const message = toSafeMessage(`The front matter is not valid YAML (${cause}).`);
    const line = read.ok ? split.yamlLine : read.line;
    return { items: [], problems: [{ code: 'invalid-yaml', message, path, line }] };
  }
  const agents = entries.map((entry: unknown, index) => {
    if (isJsonObject(entry)) return readEntry(Object.entries(entry), index, file);
    const message = `Item ${index + 1} of the front matter is not an agent: write \`key: value\` lines.`;
    return { code: 'invalid-agent', message, path, line: split.yamlLine };
  });
  return {
    items: agents.filter((each) => 'prompt' in each),
    problems: agents.filter((each) => 'code' in each),
  };
}

function readEntry(
  entries: readonly (readonly [string, Field['value'] | undefined])[],
  index: number,
  file: DefinitionFile,
): AgentDefinition {
  const fields = new Map(
    entries.map(([key, value]) => [key, { value: value ?? null, line: undefined }]),
  );
  const name = `${nameFromPath(file.path)}-${index + 1}`;
  return readAgent({ fields, name, prompt: '', problems: [] }, file, GEMINI);
}
