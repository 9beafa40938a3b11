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
import { shownMessage } from '../../parsing/fields.ts';
import { parseJsonc } from '../../parsing/jsonc.ts';
import { withLineFeeds } from '../../parsing/split-front-matter.ts';
import type { PermissionEntry } from '../../permissions/entries.ts';
import { readSharedPermissions } from '../../permissions/permission-fields.ts';
import { disabledProblem, opencodeDialect, isOpencodeBuiltin } from './dialect.ts';

/** The configuration files of a directory. The later one has precedence. */
const FILES = ['opencode.json', 'opencode.jsonc'];

/** The directories for agents. The last two are older, and only a person can choose the agents in them. */
const DIRECTORIES: ReadonlySet<string> = new Set(['agents', 'agent', 'modes', 'mode']);

/** Reads opencode's agents: `*.md` and the entries of `opencode.json`. */
export const opencodeReader: FormatReader = {
  read: (file) => (isMarkdown(file.path) ? readOpencodeMarkdown(file) : readOpencodeConfig(file)),
  referencedFiles: (path, text) => (isMarkdown(path) ? [] : opencodeConfigPrompts(path, text)),
};

async function readOpencodeMarkdown(file: DefinitionFile): Promise<FileDefinitions> {
  const { name, directory } = locationOf(file.path);
  const primary = directory === 'mode' || directory === 'modes';
  const common = configPaths(file.path).flatMap((path) => {
    const config = file.readReferenced?.(path);
    return config?.ok === true ? sharedPermissions(config.text) : [];
  });
  const dialect = opencodeDialect({ name, primary, common });
  const { items, problems } = await readMarkdownAgent(file, dialect);
  const disabled = items.map(disabledProblem).filter((problem) => problem !== undefined);
  return disabled.length > 0 ? { items: [], problems: disabled } : { items, problems };
}

/** Returns the configuration files that apply to an agent file. The one in the vendor's directory has precedence over the one next to it. */
function configPaths(path: string): readonly string[] {
  const parts = path.split('/');
  const own = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  if (own < 0) return [];
  const directory = parts.slice(0, own + 1).join('/');
  const directories = parts[own] === '.opencode' ? [dirname(directory), directory] : [directory];
  return directories.flatMap((each) => FILES.map((name) => join(each, name)));
}

/** Returns the name of an agent, which is its path below the directory for agents: `agents/web/css.md` is `web/css`. */
function locationOf(path: string): { readonly name: string; readonly directory: string } {
  const parts = path.replace(/\.md$/i, '').split('/');
  const own = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  const below = parts.findIndex(
    (part, at) => at > own && at < parts.length - 1 && DIRECTORIES.has(part),
  );
  return below < 0
    ? { name: parts.at(-1) ?? '', directory: '' }
    : { name: parts.slice(below + 1).join('/'), directory: parts[below] ?? '' };
}

const VENDOR_DIRECTORIES: ReadonlySet<string> = new Set(['.opencode', 'opencode']);

/**
 * The maximum number of agents of a file, and the maximum number of entries that its shared permissions may have
 * for all of them together.
 */
const MAX_AGENTS = 1_000;
const MAX_COMMON_ENTRIES = 50_000;

/** The sections of `opencode.json` with agents. Only a person can choose those in the last one. */
const SECTIONS = ['agent', 'agents', 'mode'] as const;

const ENVIRONMENT_KEPT = {
  code: 'environment-reference',
  message:
    '`{env:…}` in a prompt is not replaced: values of the environment never become part of a prompt.',
};

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
    const message = shownMessage(`Not valid JSON with comments: ${cause}.`);
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
  const message = `More than ${most} agents; the others are left out.`;
  return {
    items: read.filter((each) => 'origin' in each),
    problems: [
      ...read.filter((each) => 'code' in each),
      ...(entries.length > most ? [{ code: 'too-many-agents', message, path }] : []),
    ],
  };
}

/** Reads the permissions that the text of a configuration has for all agents. A text that cannot be read has none. */
function sharedPermissions(text: string): readonly PermissionEntry[] {
  const parsed = parseJsonc(text);
  return parsed.ok && isJsonObject(parsed.value) ? commonOf(parsed.value) : [];
}

function commonOf(config: JsonObject): readonly PermissionEntry[] {
  const permission = config['permission'] ?? config['permissions'] ?? null;
  return readSharedPermissions(permission, config['tools'] ?? null);
}

/** Returns the paths of the files that the prompts of its agents refer to. */
function opencodeConfigPrompts(path: string, text: string): readonly string[] {
  const parsed = parseJsonc(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return [];
  const prompts = entriesOf(parsed.value)
    .slice(0, MAX_AGENTS)
    .map(({ value }) => promptOf(value));
  return [...new Set(prompts.flatMap((prompt) => referencedPromptFiles(prompt, path)))];
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
    const message = shownMessage(
      `\`${section}.${name}\` is not an agent: write \`{"prompt": …}\`.`,
    );
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
  return written === '' && isOpencodeBuiltin(name) ? changeOfOwn(agent) : agent;
}

function changeOfOwn(agent: AgentDefinition): AgentDefinition {
  const unusable = `It only changes opencode's own agent \`${agent.name}\`, which Muster does not have: it has no prompt.`;
  return { ...agent, changesOnly: true, unusable };
}

/** Matches opencode's reference to a file whose text becomes part of the prompt. */
const REFERENCE = /\{file:([^}\n]{1,1000})\}/g;
/** The maximum number of references in a prompt. */
const MAX_REFERENCES = 20;
/** The maximum number of characters of a prompt, including the texts of files. */
const MAX_PROMPT = 256 * 1024;

type PromptText =
  | { readonly ok: true; readonly prompt: string }
  /** The reason, in sentences, why it has no prompt that can be used. */
  | { readonly ok: false; readonly reason: string };

/** Returns the absolute paths of the files that a prompt refers to. A relative path starts at the folder of the file. */
function referencedPromptFiles(prompt: string, path: string): readonly string[] {
  return [...prompt.matchAll(REFERENCE)]
    .slice(0, MAX_REFERENCES)
    .map(([, name = '']) => absolute(name.trim(), path));
}

function absolute(name: string, path: string): string {
  return toAbsolutePath(name, dirname(path));
}

/** Inserts the texts of the files that a prompt refers to. References in those texts stay as they are. */
function withPromptFiles(prompt: string, file: DefinitionFile): PromptText {
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
    const read = file.readReferenced?.(absolute(part.trim(), file.path));
    if (read === undefined) return unread(part, 'It cannot be read here.');
    if (!read.ok) return unread(part, read.reason);
    text += read.text.trim();
    if (text.length > MAX_PROMPT) {
      return { ok: false, reason: `It is longer than ${MAX_PROMPT} characters.` };
    }
  }
  return { ok: true, prompt: text };
}

function unread(name: string, reason: string): PromptText {
  return { ok: false, reason: `Its prompt is in ${name.trim()}. ${reason}` };
}
