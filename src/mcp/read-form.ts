import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';
import { FORM_FORMATS, type FormField, type FormOption, type FormValue } from '../protocol/form.ts';

/** The maximum number of fields of a form, and of options of a field. A person has to read them. */
const MAX_FIELDS = 20;
const MAX_OPTIONS = 50;
/** The maximum number of code points of a title, a description or an option. */
const MAX_TEXT_LENGTH = 200;
/** The names that a field may have, so that the user can type them. */
const FIELD_NAME = /^[\p{L}\p{N}_$][\p{L}\p{N}_.$ -]{0,63}$/u;

/** The fields of a form, or the reason why the form cannot be shown, as a clause about the form. */
export type FormResult =
  | { readonly ok: true; readonly fields: readonly FormField[] }
  | { readonly ok: false; readonly problem: string };

/** Reads the schema of a form, as a server sends it with its question. */
export function readForm(schema: JsonObject): FormResult {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return { ok: false, problem: 'has no list of fields' };
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) {
    return { ok: false, problem: `has ${names.length} fields; at most ${MAX_FIELDS} are shown` };
  }
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const fields: FormField[] = [];
  for (const name of names) {
    const field = readField(name, properties[name], isRequired(name));
    if (typeof field === 'string') return { ok: false, problem: field };
    fields.push(field);
  }
  return { ok: true, fields };
}

/** Reads a field. Returns the problem if it cannot be shown. */
function readField(
  name: string,
  schema: JsonValue | undefined,
  isRequired: boolean,
): FormField | string {
  if (!FIELD_NAME.test(name)) return `has a field with the name ${JSON.stringify(cut(name))}`;
  if (!isJsonObject(schema)) return `has a field ${name} without a description`;
  const type = readType(schema);
  if (type === null) return `has a field ${name} of a type that cannot be shown`;
  const options = readOptions(schema);
  if (options.length > MAX_OPTIONS) {
    return `has a field ${name} with ${options.length} options; at most ${MAX_OPTIONS} are shown`;
  }
  if (options.some(({ value }) => value !== cut(value))) {
    return `has a field ${name} with an option that is too long or has control characters`;
  }
  const [least, most] = BOUNDS[type];
  const format = FORM_FORMATS.find((each) => each === schema['format']);
  const preset = readDefault(schema['default'], type, options);
  return {
    name,
    title: readText(schema['title']),
    description: readText(schema['description']),
    type,
    isRequired,
    ...(type === 'text' && format !== undefined ? { format } : {}),
    ...readBound('minimum', schema[least]),
    ...readBound('maximum', schema[most]),
    options,
    ...(preset === undefined ? {} : { default: preset }),
  };
}

/** The keywords that bound a value of each type. */
const BOUNDS: Readonly<Record<FormField['type'], readonly [string, string]>> = {
  text: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: ['', ''],
  choice: ['', ''],
  choices: ['minItems', 'maxItems'],
};

function readBound(side: 'minimum' | 'maximum', value: JsonValue | undefined) {
  return typeof value === 'number' ? { [side]: value } : {};
}

function readType({ type, enum: values, oneOf, items }: JsonObject): FormField['type'] | null {
  switch (type) {
    case 'string':
      return Array.isArray(values) || Array.isArray(oneOf) ? 'choice' : 'text';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    case 'array':
      return isJsonObject(items) && listOptions(items).length > 0 ? 'choices' : null;
    default:
      return null;
  }
}

function readOptions(schema: JsonObject): readonly FormOption[] {
  const { items, enumNames: names } = schema;
  const titles = Array.isArray(names) ? names : [];
  return listOptions(isJsonObject(items) ? items : schema).map(({ value, title }, index) => ({
    value,
    title: title === '' ? readText(titles[index]) : title,
  }));
}

function listOptions({ enum: values, oneOf, anyOf }: JsonObject): readonly FormOption[] {
  const listed = [values, oneOf, anyOf].find((each) => Array.isArray(each)) ?? [];
  return (listed as readonly JsonValue[]).flatMap((each) => {
    if (typeof each === 'string') return [{ value: each, title: '' }];
    if (!isJsonObject(each) || typeof each['const'] !== 'string') return [];
    return [{ value: each['const'], title: readText(each['title']) }];
  });
}

/** Returns the default of a field; undefined if there is none, or if it does not fit the type. */
function readDefault(
  value: JsonValue | undefined,
  type: FormField['type'],
  options: readonly FormOption[],
): FormValue | undefined {
  const isOption = (each: JsonValue): each is string =>
    options.some((option) => option.value === each);
  switch (type) {
    case 'text':
      return typeof value === 'string' && value === cut(value) ? value : undefined;
    case 'number':
    case 'integer':
      return typeof value === 'number' ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'choice':
      return value !== undefined && isOption(value) ? value : undefined;
    case 'choices':
      return Array.isArray(value) && value.every(isOption) ? value : undefined;
  }
}

function readText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? cut(value) : '';
}

/** Puts a text on one line without control characters, and cuts it. */
function cut(text: string): string {
  const line = collapseWhitespace(
    sanitizeForTerminal(truncate(text, MAX_TEXT_LENGTH * 4), 'prose'),
  );
  return truncate(line, MAX_TEXT_LENGTH);
}

/** The maximum length of an address that the user is asked to open. */
const MAX_URL_LENGTH = 2_000;

/** Reads the address that the user is asked to open. Returns null if it is no web address that can be shown in full. */
export function readPageAddress(text: string): URL | null {
  if (text.length > MAX_URL_LENGTH) return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  // A name before the host would make another host look like the one that is opened.
  return url.username === '' && url.password === '' ? url : null;
}
