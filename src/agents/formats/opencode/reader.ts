import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../../protocol/agent.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import { readMarkdownAgent, readAgent } from '../../fields/read-agent.ts';
import {
  isMarkdown,
  type DefinitionFile,
  type FormatReader,
  type FileDefinitions,
} from '../../loader/format.ts';
import { toSafeMessage } from '../../parsing/fields.ts';
import { parseJsonc } from '../../../base/jsonc.ts';
import { normalizeLineEnds } from '../../parsing/split-front-matter.ts';
import type { PermissionEntry } from '../../permissions/entries.ts';
import { readSharedPermissions } from '../../permissions/permission-fields.ts';
import { disabledProblem, opencodeDialect, isOpencodeBuiltin } from './dialect.ts';

/** The names of configuration files in a directory. The last one has precedence. */
const CONFIG_FILES = ['opencode.json', 'opencode.jsonc'];

/** The names of directories for agents. The last two are older names. Only a person can choose the agents in them. */
const AGENT_DIRECTORIES: ReadonlySet<string> = new Set(['agents', 'agent', 'modes', 'mode']);

/** Reads opencode's agents: `*.md` and the entries of `opencode.json`. */
export const opencodeReader: FormatReader = {
  read: (file) => (isMarkdown(file.path) ? readOpencodeMarkdown(file) : readOpencodeConfig(file)),
  referencedFiles: (path, text) => (isMarkdown(path) ? [] : findConfigPromptFiles(path, text)),
};

async function readOpencodeMarkdown(file: DefinitionFile): Promise<FileDefinitions> {
  const { name, directory } = parseAgentPath(file.path);
  const primary = directory === 'mode' || directory === 'modes';
  const common = listConfigPaths(file.path).flatMap((path) => {
    const config = file.readReferenced?.(path);
    return config?.ok === true ? parseCommonPermissions(config.text) : [];
  });
  const dialect = opencodeDialect({ name, primary, common });
  const { items, problems } = await readMarkdownAgent(file, dialect);
  const disabled = items.map(disabledProblem).filter((problem) => problem !== undefined);
  return disabled.length > 0 ? { items: [], problems: disabled } : { items, problems };
}

/**
 * Returns the paths of the configuration files that apply to an agent file, in ascending order of precedence. A file in
 * the vendor's directory has precedence over a file next to that directory.
 */
function listConfigPaths(path: string): readonly string[] {
  const parts = path.split('/');
  const vendorIndex = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  if (vendorIndex < 0) return [];
  const directory = parts.slice(0, vendorIndex + 1).join('/');
  const directories =
    parts[vendorIndex] === '.opencode' ? [dirname(directory), directory] : [directory];
  return directories.flatMap((each) => CONFIG_FILES.map((name) => join(each, name)));
}

/** Returns the name of an agent, which is its path below the directory for agents: `agents/web/css.md` is `web/css`. */
function parseAgentPath(path: string): { readonly name: string; readonly directory: string } {
  const parts = path.replace(/\.md$/i, '').split('/');
  const vendorIndex = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  const below = parts.findIndex(
    (part, at) => at > vendorIndex && at < parts.length - 1 && AGENT_DIRECTORIES.has(part),
  );
  return below < 0
    ? { name: parts.at(-1) ?? '', directory: '' }
    : { name: parts.slice(below + 1).join('/'), directory: parts[below] ?? '' };
}

const VENDOR_DIRECTORIES: ReadonlySet<string> = new Set(['.opencode', 'opencode']);

/** The maximum number of agents in a file. */
const MAX_AGENTS = 1_000;
/** The maximum number of entries of the shared permissions, multiplied by the number of agents that they apply to. */
const MAX_COMMON_ENTRIES = 50_000;

/** The sections of `opencode.json` with agents. Only a person can choose the agents in the last section. */
const SECTIONS = ['agent', 'agents', 'mode'] as const;

const ENVIRONMENT_PROBLEM = {
  code: 'environment-reference',
  message:
    '`{env:…}` in a prompt is not replaced: values of the environment never become part of a prompt.',
};

/** An entry for one agent in a configuration. */
interface Entry {
  readonly name: string;
  readonly section: (typeof SECTIONS)[number];
  readonly value: JsonValue;
}

/** Reads the agents of an `opencode.json` or `opencode.jsonc`. */
async function readOpencodeConfig(file: DefinitionFile): Promise<FileDefinitions> {
  const { path } = file;
  const parsed = parseJsonc(file.text);
  if (!parsed.ok || !isJsonObject(parsed.value)) {
    const cause = parsed.ok ? 'it is not an object' : parsed.message;
    const message = toSafeMessage(`Not valid JSON with comments: ${cause}.`);
    return { items: [], problems: [{ code: 'invalid-json', message, path }] };
  }
  const config = parsed.value;
  const entries = listEntries(config);
  if (entries.length === 0) {
    const message = 'It defines no agents.';
    return { items: [], problems: [{ code: 'not-an-agent', message, path }] };
  }
  const common = readCommonPermissions(config);
  const maxAgents = Math.min(MAX_AGENTS, Math.floor(MAX_COMMON_ENTRIES / (common.length + 1)));
  const read = entries.slice(0, maxAgents).map((entry) => readEntry(entry, common, file));
  const message = `More than ${maxAgents} agents; the others are left out.`;
  return {
    items: read.filter((each) => 'origin' in each),
    problems: [
      ...read.filter((each) => 'code' in each),
      ...(entries.length > maxAgents ? [{ code: 'too-many-agents', message, path }] : []),
    ],
  };
}

/**
 * Reads the permissions that a configuration sets for all agents. Returns no permissions if its text cannot be read.
 */
function parseCommonPermissions(text: string): readonly PermissionEntry[] {
  const parsed = parseJsonc(text);
  return parsed.ok && isJsonObject(parsed.value) ? readCommonPermissions(parsed.value) : [];
}

function readCommonPermissions(config: JsonObject): readonly PermissionEntry[] {
  const permission = config['permission'] ?? config['permissions'] ?? null;
  return readSharedPermissions(permission, config['tools'] ?? null);
}

/** Returns the paths of the files that the prompts in a configuration refer to. */
function findConfigPromptFiles(path: string, text: string): readonly string[] {
  const parsed = parseJsonc(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return [];
  const prompts = listEntries(parsed.value)
    .slice(0, MAX_AGENTS)
    .map(({ value }) => readPrompt(value));
  return [...new Set(prompts.flatMap((prompt) => referencedPromptFiles(prompt, path)))];
}

function listEntries(config: JsonObject): readonly Entry[] {
  return SECTIONS.flatMap((section) => {
    const agents = config[section];
    return isJsonObject(agents)
      ? Object.entries(agents).map(([name, value]) => ({ name, section, value: value ?? null }))
      : [];
  });
}

function readPrompt(value: JsonValue): string {
  const prompt = isJsonObject(value)
    ? PROMPT_FIELDS.map((key) => value[key]).find(isText)
    : undefined;
  return prompt ?? '';
}

const PROMPT_FIELDS = ['prompt', 'system'];

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
    const message = toSafeMessage(
      `\`${section}.${name}\` is not an agent: write \`{"prompt": …}\`.`,
    );
    return { code: 'invalid-agent', message, path };
  }
  const dialect = opencodeDialect({ name, primary: section === 'mode', common });
  const written = readPrompt(value);
  const prompt = insertPromptFiles(written, file);
  const fields = new Map(
    Object.entries(value)
      .filter(([key, each]) => !(PROMPT_FIELDS.includes(key) && isText(each)))
      .map(([key, each]) => [key, { value: each ?? null, line: undefined }]),
  );
  const content = {
    fields,
    name,
    prompt: normalizeLineEnds(prompt.ok ? prompt.prompt : written).trim(),
    problems: [
      ...(prompt.ok ? [] : [{ code: 'prompt-unreadable', message: prompt.reason }]),
      ...(written.includes('{env:') ? [ENVIRONMENT_PROBLEM] : []),
    ],
  };
  const agent = readAgent(content, file, dialect);
  const disabled = disabledProblem(agent);
  if (disabled !== undefined) return disabled;
  if (!prompt.ok) return { ...agent, unusable: toSafeMessage(prompt.reason) };
  return written === '' && isOpencodeBuiltin(name) ? refuseBuiltInChange(agent) : agent;
}

function refuseBuiltInChange(agent: AgentDefinition): AgentDefinition {
  const unusable = `It only changes opencode's own agent \`${agent.name}\`, which Muster does not have: it has no prompt.`;
  return { ...agent, changesOnly: true, unusable };
}

/** Matches opencode's reference to a file whose text becomes part of the prompt. */
const REFERENCE = /\{file:([^}\n]{1,1000})\}/g;
/** The maximum number of references in a prompt. */
const MAX_REFERENCES = 20;
/** The maximum number of characters of a prompt, including the texts of files. */
const MAX_PROMPT_LENGTH = 256 * 1024;

/** A prompt with the texts of the files that it refers to. */
type PromptText =
  | { readonly ok: true; readonly prompt: string }
  /** The reason, in sentences, why the prompt cannot be used. */
  | { readonly ok: false; readonly reason: string };

/**
 * Returns the absolute paths of the files that a prompt refers to. A relative path is relative to the directory of the
 * configuration file.
 */
function referencedPromptFiles(prompt: string, path: string): readonly string[] {
  return [...prompt.matchAll(REFERENCE)]
    .slice(0, MAX_REFERENCES)
    .map(([, name = '']) => resolvePath(name.trim(), path));
}

function resolvePath(name: string, path: string): string {
  return toAbsolutePath(name, dirname(path));
}

/** Inserts the texts of the files that a prompt refers to. References in the inserted texts are not replaced. */
function insertPromptFiles(prompt: string, file: DefinitionFile): PromptText {
  const parts = prompt.split(REFERENCE);
  if ((parts.length - 1) / 2 > MAX_REFERENCES) {
    return { ok: false, reason: `It refers to more than ${MAX_REFERENCES} files.` };
  }
  let text = '';
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      text += part;
      continue;
    }
    const read = file.readReferenced?.(resolvePath(part.trim(), file.path));
    if (read === undefined) return createUnreadable(part, 'It cannot be read here.');
    if (!read.ok) return createUnreadable(part, read.reason);
    text += read.text.trim();
    if (text.length > MAX_PROMPT_LENGTH) {
      return { ok: false, reason: `It is longer than ${MAX_PROMPT_LENGTH} characters.` };
    }
  }
  return { ok: true, prompt: text };
}

function createUnreadable(name: string, reason: string): PromptText {
  return { ok: false, reason: `Its prompt is in ${name.trim()}. ${reason}` };
}
