import { dirname } from 'node:path';
import { absolutePath } from '../../../sys/paths.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import type { Fields } from '../../parsing/fields.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { promptText, takeFirst, textList } from '../../fields/common.ts';
import { notLoaded, spread } from '../../parsing/file-fields.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import { parseJsonFields } from '../../parsing/json-fields.ts';
import { readKiroRules, SETTINGS } from './rules.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import { isJson } from '../../loader/format.ts';
import { otherText } from '../../parsing/other-file.ts';
import type { Dialect, SharedFields } from '../../fields/read-agent.ts';
import { nameFromPath, readAgent, readMarkdownAgent } from '../../fields/read-agent.ts';
import { toolWords } from '../../fields/tool-words.ts';

const INACTIVE = [
  'allowed-tools',
  'hooks',
  'include-mcp-json',
  'include-powers',
  'keyboard-shortcut',
  'mcp-servers',
  'permissions',
  'resources',
  'tool-aliases',
  'tools-settings',
  'use-legacy-mcp-json',
  'welcome-message',
];

/** Kiro's `*.json` and `*.md`, which hold the same fields. */
export const kiroReader: FormatReader = {
  read: (file) =>
    isJson(file.path) ? readJsonAgent(file) : readMarkdownAgent(file, dialectFor(file)),
  referencedFiles: promptFiles,
};

/** The file that `prompt` may name in a text, whatever else it holds. */
function promptFiles(path: string, content: string): readonly string[] {
  const [, named] = /\bprompt"?[ \t]*:[ \t]*["']?file:\/\/([^"'\n]+)/.exec(content) ?? [];
  return named === undefined ? [] : [absolutePath(named.trim(), dirname(path))];
}

/** Some field that says what an agent is: other JSON files may lie beside it. */
const TELLING = ['prompt', 'description', 'tools', 'allowedTools', 'toolsSettings', 'mcpServers'];

async function readJsonAgent(file: DefinitionFile): Promise<FileDefinitions> {
  const read = await parseJsonFields(file.text);
  if (!read.ok) return notLoaded(file, read.problem);
  if (!TELLING.some((name) => read.fields.has(name))) {
    return notLoaded(file, { code: 'not-an-agent', message: 'It has no field of an agent.' });
  }
  const content = { ...read, name: nameFromPath(file.path), prompt: '' };
  return { items: [readAgent(content, file, dialectFor(file))], problems: [] };
}

function dialectFor(file: DefinitionFile): Dialect {
  return {
    vendor: 'kiro',
    modes: CLAUDE_MODES,
    limits: [],
    inactive: INACTIVE,
    loadsBareText: false,
    translate: (fields) => withAllowed(spreadSettings(withoutServers(fields))),
    own: {
      names: ['prompt'],
      read: (reader, shared) => ({
        ...readPrompt(reader, file, shared),
        ...readDelegates(reader, shared),
        ...readKiroRules(reader),
      }),
    },
  };
}

/** The body of a markdown file goes before its `prompt`. */
function readPrompt(
  reader: FieldReader,
  file: DefinitionFile,
  shared: SharedFields,
): Partial<AgentDefinition> {
  if (shared.prompt !== '') return {};
  const field = reader.take('prompt');
  const written = promptText(field?.value);
  if (written === undefined) {
    const isOdd = field !== undefined && field.value !== null;
    const message = isOdd ? '`prompt` is no text.' : 'No `prompt`: nothing tells it what it is.';
    reader.warn('missing-prompt', message, field?.line);
    return {};
  }
  if (!/^file:\/\//i.test(written)) return { prompt: written };
  const path = written.slice('file://'.length);
  const other = otherText(file, path);
  if (other.ok) return { prompt: promptText(other.text) ?? '' };
  const unusable = shownMessage(
    `Its prompt lies in \`${path}\`, which cannot be used: ${other.reason}`,
  );
  reader.warn('prompt-file', unusable, field?.line);
  return { unusable: shared.unusable ?? unusable };
}

/** `@builtin` alone is every tool that is of no server. */
function withoutServers(fields: Fields): Fields {
  const tools = fields.get('tools');
  const words = tools === undefined ? [] : toolWords(tools.value);
  if (tools === undefined || words?.length !== 1 || words[0] !== '@builtin') return fields;
  if (fields.has('disallowedTools')) return fields;
  return new Map([...fields, ['disallowedTools', { value: ['mcp__*'], line: tools.line }]]);
}

/** `toolsSettings: {shell: {allowedCommands}}` as `toolsSettings.shell.allowedCommands`. */
function spreadSettings(fields: Fields): Fields {
  const tools = spread(fields, 'toolsSettings');
  return [...tools.keys()].filter((key) => key.startsWith(SETTINGS)).reduce(spread, tools);
}

/** `permissions` that let something run unasked apart from the others, for they do nothing. */
function withAllowed(fields: Fields): Fields {
  const field = fields.get('permissions');
  if (field === undefined || !Array.isArray(field.value)) return fields;
  const entries: readonly JsonValue[] = field.value;
  const isAllowed = (entry: JsonValue): boolean =>
    isJsonObject(entry) && entry['effect'] === 'allow';
  const allowed = entries.filter(isAllowed);
  if (allowed.length === 0) return fields;
  const others = entries.filter((entry) => !isAllowed(entry));
  return new Map([
    ...[...fields].filter(([key]) => key !== 'permissions'),
    ['permissions.allow', { ...field, value: allowed }],
    ...(others.length === 0 ? [] : [['permissions', { ...field, value: others }] as const]),
  ]);
}

/** Whom `toolsSettings.subagent.availableAgents` lets it delegate to. */
function readDelegates(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  const field = takeFirst(reader, [
    'toolsSettings.subagent.availableAgents',
    'toolsSettings.use_subagent.availableAgents',
  ]);
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (names.includes('*')) return {};
  const whole = names.filter((name) => !/[*?]/.test(name));
  if (whole.length < names.length) {
    const message = 'Of `availableAgents` only whole names count; patterns are left out.';
    reader.warn('agent-pattern', message, field.line);
  }
  return whole.length === 0
    ? { disallowedTools: [...shared.disallowedTools, 'Task'] }
    : { delegatesTo: whole };
}
