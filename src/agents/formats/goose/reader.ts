import { dirname } from 'node:path';
import { isJsonObject, type JsonValue, type JsonPrimitive } from '../../../base/json.ts';
import type { AgentDefinition, AgentParameter } from '../../../protocol/agent.ts';
import { readPromptText, readOutputSchemaField, fieldText } from '../../fields/common.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import {
  createFieldTest,
  nameFromPath,
  readAgent,
  type AgentDialect,
} from '../../fields/read-agent.ts';
import { mcpServerTools } from '../../fields/tool-grants.ts';
import {
  isJson,
  type DefinitionFile,
  type FormatReader,
  type FileDefinitions,
} from '../../loader/format.ts';
import {
  failedFile,
  normalizeText,
  flattenField,
  unreadableFile,
  type Field,
  type Fields,
  type FileFields,
} from '../../parsing/fields.ts';
import { readYaml } from '../../parsing/front-matter.ts';
import { parseJsonFields } from '../../parsing/json-fields.ts';

/** The fields that have no effect. The last six surround the recipe in files of the desktop application. */
const INACTIVE = (
  'activities author context extensions retry settings sub_recipes version id ' +
  'isArchived isGlobal lastModified profile scheduledJobId'
).split(' ');

/** Reads goose's recipes: `*.yaml` and `*.json`. */
export const gooseReader: FormatReader = { read: readRecipe };

async function readRecipe(file: DefinitionFile): Promise<FileDefinitions> {
  const dialect = createDialect(file);
  const read = isJson(file.path)
    ? await parseJsonFields(file.text)
    : await parseYamlFields(file.text, () => createFieldTest(dialect));
  if (!read.ok) return failedFile(file, read.problem);
  const fields = unwrapRecipe(read.fields);
  if (!['title', 'instructions', 'prompt'].some((name) => fields.has(name))) {
    return failedFile(file, { code: 'not-an-agent', message: 'It holds no recipe.' });
  }
  const content = { fields, problems: read.problems, name: nameFromPath(file.path), prompt: '' };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

async function parseYamlFields(
  text: string,
  fieldTest: () => (key: string) => boolean,
): Promise<FileFields> {
  const read = await readYaml({
    yaml: normalizeText(text),
    line: 1,
    subject: 'The recipe',
    fieldTest,
  });
  return read.ok ? read : unreadableFile(read.code, read.message, read.line);
}

/**
 * Unwraps the recipe in a file of the desktop application. The recipe's own fields have precedence over the fields
 * around it, such as a second `name`.
 */
function unwrapRecipe(fields: Fields): Fields {
  const recipe = fields.get('recipe');
  if (recipe === undefined || !isJsonObject(recipe.value)) return fields;
  const inner = Object.entries(recipe.value).map(([key, value]): [string, Field] => [
    key,
    { value: value ?? null, line: recipe.line },
  ]);
  const outer = [...fields].filter(([key]) => key !== 'recipe' && key !== 'name');
  return new Map([...outer, ...inner]);
}

function createDialect(file: DefinitionFile): AgentDialect {
  return {
    vendor: 'goose',
    inactive: INACTIVE,
    translate: (fields) => translateExtensions(renameFields(fields)),
    own: {
      names: ['title', 'instructions', 'prompt', 'parameters', 'recipe', 'response'],
      read: (reader) => readTexts(reader, file),
    },
  };
}

/**
 * Goose's names of fields that all vendors share, with the shared names. A field that has the shared name itself does
 * not belong to a recipe, and is removed.
 */
const SHARED_NAMES: ReadonlyMap<string, string> = new Map([
  ['title', 'name'],
  ['settings.goose_model', 'model'],
  ['settings.max_turns', 'max_turns'],
]);

function renameFields(fields: Fields): Fields {
  const renamed = new Map<string, Field>();
  for (const [key, field] of flattenField(fields, 'settings')) {
    const name = SHARED_NAMES.get(key);
    if (name !== undefined) renamed.set(name, field);
    else if (!renamed.has(key)) renamed.set(key, field);
  }
  return renamed;
}

/**
 * Reads `instructions`, which are the agent's part of the system prompt, and `prompt`, the first message of a
 * conversation with it. A `prompt` without `instructions` serves as the system prompt.
 */
function readTexts(reader: FieldReader, file: DefinitionFile): Partial<AgentDefinition> {
  const instructions = readPromptText(reader.take('instructions')?.value);
  const message = readPromptText(reader.take('prompt')?.value);
  const prompt = instructions ?? message;
  if (prompt === undefined) {
    const message = 'There are neither `instructions` nor a `prompt`: the agent has no prompt.';
    reader.warn('missing-prompt', message);
  }
  return {
    prompt: prompt ?? '',
    ...(message === undefined || instructions === undefined ? {} : { initialPrompt: message }),
    ...readResponse(reader),
    ...readParameters(reader, { texts: [prompt ?? '', message ?? ''], path: file.path }),
  };
}

/** Reads `response: {json_schema: …}`, the schema of the agent's answer. */
function readResponse(reader: FieldReader): Partial<AgentDefinition> {
  const field = reader.take('response');
  if (field === undefined || !isJsonObject(field.value)) return {};
  const schema = field.value['json_schema'] ?? null;
  return readOutputSchemaField(reader, { ...field, value: schema });
}

/**
 * Translates `extensions` into `tools`, so that only the listed extensions can be used. Without the field, goose gives
 * an agent all extensions that the user has enabled, so all tools stay available.
 */
export function translateExtensions(fields: Fields): Fields {
  const extensions = fields.get('extensions');
  if (extensions === undefined) return fields;
  const { value, line } = extensions;
  const others = [...fields].filter(([key]) => key !== 'extensions');
  if (value === null) return new Map(others);
  const tools = Array.isArray(value) ? value.flatMap(listExtensionTools) : value;
  return new Map([...others, ['tools', { value: tools, line }]]);
}

/** The types of extensions that have their own tools, which are tools of an MCP server in Muster. */
const SERVER_TYPES: ReadonlySet<string> = new Set(
  'stdio sse streamable_http frontend inline_python'.split(' '),
);

/** Muster's tools for goose's extensions. */
const TOOLS_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['summon', 'Task'],
  ['skills', 'Skill'],
]);

/** Muster's tools for single tools of goose's extensions, which `available_tools` lists. */
const TOOLS_BY_GOOSE_TOOL: ReadonlyMap<string, readonly string[]> = new Map([
  ['text_editor', ['Read', 'Write', 'Edit']],
  ['tree', ['LS']],
  ['load', ['Skill']],
]);

/** Returns the names of an extension's tools. An unknown name is returned unchanged, so that a warning names it. */
function listExtensionTools(extension: JsonValue): readonly string[] {
  const name = fieldText(isJsonObject(extension) ? extension['name'] : extension);
  if (name === undefined) return ['?'];
  const available = isJsonObject(extension) ? extension['available_tools'] : undefined;
  const availableTools = Array.isArray(available)
    ? available.map((each) => fieldText(each) ?? '?')
    : [];
  const isServer = isJsonObject(extension) && SERVER_TYPES.has(fieldText(extension['type']) ?? '');
  if (isServer) {
    return availableTools.length === 0
      ? [mcpServerTools(name)]
      : availableTools.map((tool) => mcpServerTools(name, tool));
  }
  const word = TOOLS_BY_EXTENSION.get(name) ?? name;
  if (availableTools.length === 0) return [word];
  return availableTools.flatMap((tool) => TOOLS_BY_GOOSE_TOOL.get(tool) ?? [tool]);
}

/** Matches the beginning of `{{ name }}`, with or without filters. */
const PLACEHOLDER = /\{\{-?\s*([A-Za-z_]\w*)/g;
/** The maximum number of parameters of an agent. No form for a person needs more. */
const MAX_PARAMETERS = 100;

interface Template {
  readonly texts: readonly string[];
  /** The path of the recipe. */
  readonly path: string;
}

/**
 * Reads the recipe's `parameters`, and adds a parameter for each placeholder in its texts that is not declared. The
 * texts are not changed, because the prompt of a task gives the values.
 */
function readParameters(
  reader: FieldReader,
  { texts, path }: Template,
): Pick<AgentDefinition, 'parameters'> {
  const field = reader.take('parameters');
  const declared = (Array.isArray(field?.value) ? field.value : [])
    .map(readParameter)
    .filter((each) => each !== undefined);
  const used = new Set(
    texts.flatMap((each) => [...each.matchAll(PLACEHOLDER)].map(([, name]) => name)),
  );
  const names = new Set(declared.map(({ name }) => name));
  const others = [...used]
    .filter((name) => name !== undefined && !names.has(name))
    .map((name) => createUndeclaredParameter(name ?? '', path));
  const parameters = [...declared, ...others].slice(0, MAX_PARAMETERS);
  if (parameters.length === 0) return {};
  const missing = parameters.filter((each) => each.default === undefined && used.has(each.name));
  if (missing.length > 0) {
    const listed = missing.map(({ name }) => `\`{{ ${name} }}\``).join(', ');
    const message = `Its texts have the placeholders ${listed}: the prompt of a task must give their values.`;
    reader.warn('template-params', message, field?.line);
  }
  return { parameters };
}

function readParameter(value: JsonValue): AgentParameter | undefined {
  const name = isJsonObject(value) ? fieldText(value['key']) : undefined;
  if (name === undefined || !isJsonObject(value)) return undefined;
  const options = Array.isArray(value['options'])
    ? value['options'].map((each) => fieldText(each))
    : [];
  const choice = options.length === 0 ? '' : ` One of: ${options.join(', ')}.`;
  const preset = value['default'] ?? null;
  return {
    name,
    description: `${fieldText(value['description']) ?? ''}${choice}`.trim(),
    ...(preset === null
      ? {}
      : { default: isPlain(preset) ? String(preset) : JSON.stringify(preset) }),
  };
}

function isPlain(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object';
}

/** Creates the parameter for a placeholder that is not declared. goose itself gives `recipe_dir` its value. */
function createUndeclaredParameter(name: string, path: string): AgentParameter {
  return name === 'recipe_dir'
    ? { name, description: 'The directory of the recipe.', default: dirname(path) }
    : { name, description: '' };
}
