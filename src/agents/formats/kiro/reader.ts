import { dirname } from 'node:path';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import {
  toSafeMessage,
  failedFile,
  flattenField,
  readReferencedText,
  type Fields,
} from '../../parsing/fields.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { readPromptText, takeFirstField, textList } from '../../fields/common.ts';
import {
  isJson,
  type DefinitionFile,
  type FormatReader,
  type FileDefinitions,
} from '../../loader/format.ts';
import { parseJsonFields } from '../../parsing/json-fields.ts';
import { readKiroRules, TOOL_SETTINGS } from './rules.ts';
import {
  nameFromPath,
  readAgent,
  readMarkdownAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';
import { splitToolList } from '../../fields/tool-grants.ts';

const INACTIVE = (
  'allowed-tools hooks include-mcp-json include-powers keyboard-shortcut mcp-servers ' +
  'permissions resources tool-aliases tools-settings use-legacy-mcp-json welcome-message'
).split(' ');

/** Reads Kiro's `*.json` and `*.md` agents, which have the same fields. */
export const kiroReader: FormatReader = {
  read: (file) =>
    isJson(file.path) ? readJsonAgent(file) : readMarkdownAgent(file, createDialect(file)),
  referencedFiles: findPromptFile,
};

/** Returns the path of the file that `prompt` refers to, even if the text is not valid. */
function findPromptFile(path: string, content: string): readonly string[] {
  const [, named] = /\bprompt"?[ \t]*:[ \t]*["']?file:\/\/([^"'\n]+)/.exec(content) ?? [];
  return named === undefined ? [] : [toAbsolutePath(named.trim(), dirname(path))];
}

/**
 * The fields of which a file that was meant as an agent has at least one. Other JSON files may be in the same
 * directory.
 */
const AGENT_FIELDS = 'prompt description tools allowedTools toolsSettings mcpServers'.split(' ');

async function readJsonAgent(file: DefinitionFile): Promise<FileDefinitions> {
  const read = await parseJsonFields(file.text);
  if (!read.ok) return failedFile(file, read.problem);
  if (!AGENT_FIELDS.some((name) => read.fields.has(name))) {
    return failedFile(file, {
      code: 'not-an-agent',
      message: 'It has none of the fields of an agent.',
    });
  }
  const content = { ...read, name: nameFromPath(file.path), prompt: '' };
  return { items: [readAgent(content, file, createDialect(file))], problems: [] };
}

function createDialect(file: DefinitionFile): AgentDialect {
  return {
    vendor: 'kiro',
    inactive: INACTIVE,
    translate: (fields) => separateAllowed(flattenSettings(denyServerTools(fields))),
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

/** Reads `prompt`, unless a markdown file has a body, which has precedence. */
function readPrompt(
  reader: FieldReader,
  file: DefinitionFile,
  shared: SharedFields,
): Partial<AgentDefinition> {
  if (shared.prompt !== '') return {};
  const field = reader.take('prompt');
  const written = readPromptText(field?.value);
  if (written === undefined) {
    const isInvalid = field !== undefined && field.value !== null;
    const message = isInvalid
      ? '`prompt` must be a text.'
      : 'There is no `prompt`: the agent has no prompt.';
    reader.warn('missing-prompt', message, field?.line);
    return {};
  }
  if (!/^file:\/\//i.test(written)) return { prompt: written };
  const path = written.slice('file://'.length);
  const promptFile = readReferencedText(file, path);
  if (promptFile.ok) return { prompt: readPromptText(promptFile.text) ?? '' };
  const unusable = toSafeMessage(
    `Its prompt is in \`${path}\`, which cannot be used: ${promptFile.reason}`,
  );
  reader.warn('prompt-file', unusable, field?.line);
  return { unusable: shared.unusable ?? unusable };
}

/**
 * Denies the tools of MCP servers if `tools` has only `@builtin`, which means every tool that does not belong to a
 * server.
 */
function denyServerTools(fields: Fields): Fields {
  const tools = fields.get('tools');
  const words = tools === undefined ? [] : splitToolList(tools.value);
  if (tools === undefined || words?.length !== 1 || words[0] !== '@builtin') return fields;
  if (fields.has('disallowedTools')) return fields;
  return new Map([...fields, ['disallowedTools', { value: ['mcp__*'], line: tools.line }]]);
}

/** Flattens `toolsSettings: {shell: {allowedCommands}}` into `toolsSettings.shell.allowedCommands`. */
function flattenSettings(fields: Fields): Fields {
  const tools = flattenField(fields, 'toolsSettings');
  return [...tools.keys()]
    .filter((key) => key.startsWith(TOOL_SETTINGS))
    .reduce(flattenField, tools);
}

/**
 * Moves the `permissions` that allow calls without asking to a field of their own, because they have no effect in
 * Muster.
 */
function separateAllowed(fields: Fields): Fields {
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

/** Reads `toolsSettings.subagent.availableAgents`, the agents to which the agent may delegate. */
function readDelegates(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  const field = takeFirstField(reader, [
    'toolsSettings.subagent.availableAgents',
    'toolsSettings.use_subagent.availableAgents',
  ]);
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (names.includes('*')) return {};
  const exact = names.filter((name) => !/[*?]/.test(name));
  if (exact.length < names.length) {
    const message = 'Only exact names count in `availableAgents`; patterns are left out.';
    reader.warn('agent-pattern', message, field.line);
  }
  return exact.length === 0
    ? { disallowedTools: [...shared.disallowedTools, 'Task'] }
    : { delegatesTo: exact };
}
