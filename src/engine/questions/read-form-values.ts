import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { FormField, FormFormat, FormValue, FormValues } from '../../protocol/form.ts';

/** The values of a form, or the problem with what the user typed, as a sentence without a full stop. */
export type FormReading =
  | { readonly ok: true; readonly values: FormValues }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads what a user typed into a form: `name: value` for each field, on lines of their own or separated by semicolons; or
 * a JSON object. A form with one field also takes the value alone. A field that is not named has its default; one that is
 * named without a value has none.
 */
export function readFormValues(fields: readonly FormField[], text: string): FormReading {
  const trimmed = text.trim();
  const typed = readJson(trimmed) ?? readLines(fields, trimmed);
  if (typeof typed === 'string') return { ok: false, problem: typed };
  const unknown = Object.keys(typed).find((name) => fields.every((field) => field.name !== name));
  if (unknown !== undefined) {
    const names = fields.map(({ name }) => name).join(', ');
    return { ok: false, problem: `there is no field ${unknown}; the fields are ${names}` };
  }
  const values: [string, FormValue][] = [];
  for (const field of fields) {
    const raw = Object.hasOwn(typed, field.name) ? typed[field.name] : field.default;
    const isMissing = raw === undefined || raw === null || raw === '';
    if (isMissing && field.isRequired) {
      return { ok: false, problem: `the field ${field.name} is required` };
    }
    if (isMissing) continue;
    const value = readValue(field, raw);
    if (value === null) return { ok: false, problem: `${field.name}: ${describeMistake(field)}` };
    values.push([field.name, value]);
  }
  return { ok: true, values: Object.fromEntries(values) };
}

/** Reads a JSON object. Returns null if the text is none. */
function readJson(text: string): JsonObject | null {
  if (!text.startsWith('{')) return null;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    // It may be the value of the only field.
    return null;
  }
}

/** Reads `name: value` for each field. Returns the problem if the text has another form. */
function readLines(fields: readonly FormField[], text: string): JsonObject | string {
  if (text === '') return {};
  const names = fields.map(({ name }) => name.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')).join('|');
  const label = `(?:${names})[ \\t]*:`;
  if (names === '' || !new RegExp(`^${label}`, 'u').test(text)) {
    const [only] = fields;
    if (only !== undefined && fields.length === 1) return { [only.name]: text };
    return `begin with the name of a field and a colon, such as ${only?.name ?? 'name'}: value`;
  }
  // Only the name of a field begins the next one, so that values may have several lines, colons and semicolons.
  const parts = text.split(new RegExp(`\\s*(?:\\n|;)\\s*(?=${label})`, 'u'));
  return Object.fromEntries(
    parts.map((part) => {
      const colon = part.indexOf(':');
      return [part.slice(0, colon).trim(), part.slice(colon + 1).trim()];
    }),
  );
}

/** Converts a value to the type of its field. Returns null if it does not fit. */
function readValue(field: FormField, raw: JsonValue): FormValue | null {
  switch (field.type) {
    case 'text':
      return typeof raw === 'string' && isWithin(field, [...raw].length) && hasFormat(field, raw)
        ? raw
        : null;
    case 'number':
    case 'integer': {
      const value = typeof raw === 'string' ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isFinite(value)) return null;
      if (field.type === 'integer' && !Number.isSafeInteger(value)) return null;
      return isWithin(field, value) ? value : null;
    }
    case 'boolean':
      return typeof raw === 'string' ? (BOOLEANS.get(raw.toLowerCase()) ?? null) : asBoolean(raw);
    case 'choice':
      return findOption(field, raw);
    case 'choices': {
      const all = typeof raw === 'string' ? raw.split(',').map((each) => each.trim()) : raw;
      if (!Array.isArray(all)) return null;
      const chosen = (all as readonly JsonValue[]).map((each) => findOption(field, each));
      const known = chosen.filter((each) => each !== null);
      const distinct = [...new Set(known)];
      return known.length === chosen.length && isWithin(field, distinct.length) ? distinct : null;
    }
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['y', true],
  ['true', true],
  ['no', false],
  ['n', false],
  ['false', false],
]);

function asBoolean(value: JsonValue): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Finds an option by its value, or else by its title or its number in the list. */
function findOption({ options }: FormField, typed: JsonValue): string | null {
  const text = String(typed);
  const option =
    options.find(({ value }) => value === text) ??
    options.find(({ title }) => title !== '' && title === text) ??
    (/^[1-9]\d*$/.test(text) ? options[Number(text) - 1] : undefined);
  return option?.value ?? null;
}

function isWithin({ minimum = -Infinity, maximum = Infinity }: FormField, amount: number): boolean {
  return amount >= minimum && amount <= maximum;
}

function hasFormat({ format }: FormField, text: string): boolean {
  return format === undefined || FORMAT_CHECKS[format](text);
}

const FORMAT_CHECKS: Readonly<Record<FormFormat, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(text),
  'date-time': (text) => /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d/.test(text) && isTime(text),
};

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}

function describeMistake(field: FormField): string {
  const { type, minimum, maximum, format, options } = field;
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  const to = maximum === undefined ? '' : ` up to ${maximum}`;
  switch (type) {
    case 'text':
      return `it must be ${format === undefined ? 'a text' : `a valid ${format}`}${from || to ? ` with a length${from}${to}` : ''}`;
    case 'number':
      return `it must be a number${from}${to}`;
    case 'integer':
      return `it must be a whole number${from}${to}`;
    case 'boolean':
      return 'it must be yes or no';
    case 'choice':
      return `it must be one of ${options.map(({ value }) => value).join(', ')}`;
    case 'choices':
      return `it must name any of ${options.map(({ value }) => value).join(', ')}${from || to ? `; their number must be${from}${to}` : ''}`;
  }
}
