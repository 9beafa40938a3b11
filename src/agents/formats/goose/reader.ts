import { isJsonObject } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Field, Fields } from '../../parsing/fields.ts';
import { readYaml } from '../../parsing/yaml.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { promptText } from '../../fields/common.ts';
import { readOutputSchema } from '../../fields/output-schema.ts';
import {
  notLoaded,
  plainText,
  spread,
  unreadableFile,
  type FileFields,
} from '../../parsing/file-fields.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import { withExtensions } from './extensions.ts';
import { readParameters } from './parameters.ts';
import { parseJsonFields } from '../../parsing/json-fields.ts';
import { isJson } from '../../loader/format.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import type { Dialect } from '../../fields/read-agent.ts';
import { knownFieldTest, nameFromPath, readAgent } from '../../fields/read-agent.ts';

const INACTIVE = [
  'activities',
  'author',
  'context',
  'extensions',
  'retry',
  'settings',
  'sub_recipes',
  'version',
  // Of the desktop's form, around the recipe.
  'id',
  'isArchived',
  'isGlobal',
  'lastModified',
  'profile',
  'scheduledJobId',
];

/** goose's recipes: `*.yaml` and `*.json`. */
export const gooseReader: FormatReader = { read: readRecipe };

async function readRecipe(file: DefinitionFile): Promise<FileDefinitions> {
  const dialect = dialectFor(file);
  const read = isJson(file.path)
    ? await parseJsonFields(file.text)
    : await parseYamlFields(file.text, () => knownFieldTest(dialect));
  if (!read.ok) return notLoaded(file, read.problem);
  const fields = unwrapped(read.fields);
  if (!['title', 'instructions', 'prompt'].some((name) => fields.has(name))) {
    return notLoaded(file, { code: 'not-an-agent', message: 'It holds no recipe.' });
  }
  const content = { fields, problems: read.problems, name: nameFromPath(file.path), prompt: '' };
  return { items: [readAgent(content, file, dialect)], problems: [] };
}

async function parseYamlFields(
  text: string,
  fieldTest: () => (key: string) => boolean,
): Promise<FileFields> {
  const read = await readYaml({ yaml: plainText(text), line: 1, what: 'The recipe', fieldTest });
  return read.ok ? read : unreadableFile(read.code, read.message, read.line);
}

/** The desktop's form: the recipe's own fields before those around it, such as a second `name`. */
function unwrapped(fields: Fields): Fields {
  const recipe = fields.get('recipe');
  if (recipe === undefined || !isJsonObject(recipe.value)) return fields;
  const inner = Object.entries(recipe.value).map(([key, value]): [string, Field] => [
    key,
    { value: value ?? null, line: recipe.line },
  ]);
  const outer = [...fields].filter(([key]) => key !== 'recipe' && key !== 'name');
  return new Map([...outer, ...inner]);
}

function dialectFor(file: DefinitionFile): Dialect {
  return {
    vendor: 'goose',
    modes: CLAUDE_MODES,
    limits: [],
    inactive: INACTIVE,
    loadsBareText: false,
    translate: (fields) => withExtensions(inSharedWords(fields)),
    own: {
      names: ['title', 'instructions', 'prompt', 'parameters', 'recipe', 'response'],
      read: (reader) => readTexts(reader, file),
    },
  };
}

/** Names that differ. A field under the shared name is of no recipe, and goes. */
const SHARED_NAMES: ReadonlyMap<string, string> = new Map([
  ['title', 'name'],
  ['settings.goose_model', 'model'],
  ['settings.max_turns', 'max_turns'],
]);

function inSharedWords(fields: Fields): Fields {
  const renamed = new Map<string, Field>();
  for (const [key, field] of spread(fields, 'settings')) {
    const name = SHARED_NAMES.get(key);
    if (name !== undefined) renamed.set(name, field);
    else if (!renamed.has(key)) renamed.set(key, field);
  }
  return renamed;
}

/**
 * `instructions` are its own part of the system prompt, and `prompt` is the first message of a
 * conversation with it; alone it is both.
 */
function readTexts(reader: FieldReader, file: DefinitionFile): Partial<AgentDefinition> {
  const instructions = promptText(reader.take('instructions')?.value);
  const message = promptText(reader.take('prompt')?.value);
  const prompt = instructions ?? message;
  if (prompt === undefined) {
    reader.warn(
      'missing-prompt',
      'Neither `instructions` nor `prompt`: nothing tells it what it is.',
    );
  }
  return {
    prompt: prompt ?? '',
    ...(message === undefined || instructions === undefined ? {} : { initialPrompt: message }),
    ...readResponse(reader),
    ...readParameters(reader, { texts: [prompt ?? '', message ?? ''], path: file.path }),
  };
}

/** `response: {json_schema: …}`: the form of its answer. */
function readResponse(reader: FieldReader): Partial<AgentDefinition> {
  const field = reader.take('response');
  if (field === undefined || !isJsonObject(field.value)) return {};
  const schema = field.value['json_schema'] ?? null;
  return readOutputSchema(reader, { ...field, value: schema });
}
