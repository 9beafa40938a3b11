import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../../protocol/agent.ts';
import { withLineFeeds } from '../../parsing/split.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import type { DefinitionFile, FileDefinitions } from '../../loader/format.ts';
import { parseJsonc } from '../../parsing/jsonc.ts';
import { disabledProblem, isOpencodeOwn, opencodeDialect } from './dialect.ts';
import type { PermissionEntry } from '../../permissions/entries.ts';
import { commonEntries } from '../../permissions/fields.ts';
import { promptFiles, withPromptFiles } from './prompt-files.ts';
import { readAgent } from '../../fields/read-agent.ts';

/** Agents of one file that are read, and what its permissions for all may come to for all of them. */
const MAX_AGENTS = 1_000;
const MAX_COMMON_ENTRIES = 50_000;

/** Where agents stand in `opencode.json`; those of the last are a person's to choose. */
const SECTIONS = ['agent', 'agents', 'mode'] as const;

const ENVIRONMENT_KEPT = {
  code: 'environment-reference',
  message: '`{env:…}` in a prompt stays as it stands: no prompt holds what the environment does.',
};

interface Entry {
  readonly name: string;
  readonly section: (typeof SECTIONS)[number];
  readonly value: JsonValue;
}

/** The agents of an `opencode.json` or `opencode.jsonc`, each with the file's path. */
export async function readOpencodeConfig(file: DefinitionFile): Promise<FileDefinitions> {
  const { path } = file;
  const parsed = parseJsonc(file.text);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    const cause = parsed.ok ? 'it is no object' : parsed.message;
    const message = shownMessage(`No valid JSON with comments: ${cause}.`);
    return { items: [], problems: [{ code: 'invalid-json', message, path }] };
  }
  const config = parsed.value;
  const entries = entriesOf(config);
  if (entries.length === 0) {
    const message = 'It defines no agents.';
    return { items: [], problems: [{ code: 'not-an-agent', message, path }] };
  }
  const common = commonOf(config);
  const most = Math.min(MAX_AGENTS, Math.floor(MAX_COMMON_ENTRIES / (common.length + 1)));
  const read = entries.slice(0, most).map((entry) => readEntry(entry, common, file));
  const message = `More than ${most} agents; the rest is left out.`;
  return {
    items: read.filter((each) => 'origin' in each),
    problems: [
      ...read.filter((each) => 'code' in each),
      ...(entries.length > most ? [{ code: 'too-many-agents', message, path }] : []),
    ],
  };
}

/** What a configuration, as text, lets all agents do and denies to them. Nothing where it cannot be read. */
export function commonPermissions(text: string): readonly PermissionEntry[] {
  const parsed = parseJsonc(text);
  return parsed.ok && isJsonObject(parsed.value) ? commonOf(parsed.value) : [];
}

function commonOf(config: JsonObject): readonly PermissionEntry[] {
  const permission = config['permission'] ?? config['permissions'] ?? null;
  return commonEntries(permission, config['tools'] ?? null);
}

/** Paths of the files that the prompts of its agents are in. */
export function opencodeConfigPrompts(path: string, text: string): readonly string[] {
  const parsed = parseJsonc(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return [];
  const prompts = entriesOf(parsed.value)
    .slice(0, MAX_AGENTS)
    .map(({ value }) => promptOf(value));
  return [...new Set(prompts.flatMap((prompt) => promptFiles(prompt, path)))];
}

function entriesOf(config: JsonObject): readonly Entry[] {
  return SECTIONS.flatMap((section) => {
    const agents = config[section];
    return isJsonObject(agents)
      ? Object.entries(agents).map(([name, value]) => ({ name, section, value: value ?? null }))
      : [];
  });
}

function promptOf(value: JsonValue): string {
  const prompt = isJsonObject(value) ? PROMPTS.map((key) => value[key]).find(isText) : undefined;
  return prompt ?? '';
}

const PROMPTS = ['prompt', 'system'];

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string';
}

function readEntry(
  { name, section, value }: Entry,
  common: readonly PermissionEntry[],
  file: DefinitionFile,
): AgentDefinition | AgentProblem {
  const { path } = file;
  if (!isJsonObject(value)) {
    const message = shownMessage(`\`${section}.${name}\` is no agent: write \`{"prompt": …}\`.`);
    return { code: 'invalid-agent', message, path };
  }
  const dialect = opencodeDialect({ name, primary: section === 'mode', common });
  const written = promptOf(value);
  const prompt = withPromptFiles(written, file);
  const fields = new Map(
    Object.entries(value)
      .filter(([key, each]) => !(PROMPTS.includes(key) && isText(each)))
      .map(([key, each]) => [key, { value: each ?? null, line: undefined }]),
  );
  const content = {
    fields,
    name,
    prompt: withLineFeeds(prompt.ok ? prompt.prompt : written).trim(),
    problems: [
      ...(prompt.ok ? [] : [{ code: 'prompt-unreadable', message: prompt.reason }]),
      ...(written.includes('{env:') ? [ENVIRONMENT_KEPT] : []),
    ],
  };
  const agent = readAgent(content, file, dialect);
  const disabled = disabledProblem(agent);
  if (disabled !== undefined) return disabled;
  if (!prompt.ok) return { ...agent, unusable: shownMessage(prompt.reason) };
  return written === '' && isOpencodeOwn(name) ? changeOfOwn(agent) : agent;
}

function changeOfOwn(agent: AgentDefinition): AgentDefinition {
  const unusable = `It only changes opencode's own agent \`${agent.name}\`, which is not here: it has no prompt.`;
  return { ...agent, changesOnly: true, unusable };
}
