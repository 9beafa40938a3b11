/** A value of a field: several chosen values for a field of the type `choices`. */
export type FormValue = string | number | boolean | readonly string[];

/** The values of a form, by the name of their field. A field without a value is absent. */
export type FormValues = Readonly<Record<string, FormValue>>;

/** One of the values that a field may have. */
export interface FormOption {
  /** The value. */
  readonly value: string;
  /** The text for the user; empty: the value says it. */
  readonly title: string;
}

/** A field of a form that an MCP server asks the user to fill in. All texts are untrusted, and are on one line. */
export interface FormField {
  /** The name of the field, under which the values have it. */
  readonly name: string;
  /** The server's name for people; may be empty. */
  readonly title: string;
  /** May be empty. */
  readonly description: string;
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  /** True if the user must fill in the field. */
  readonly isRequired: boolean;
  /** The format of a text. Default: any. */
  readonly format?: FormFormat;
  /** The least number, or the least number of characters of a text or of chosen values. Default: no minimum. */
  readonly minimum?: number;
  /** The greatest number, or the greatest number of characters of a text or of chosen values. Default: no maximum. */
  readonly maximum?: number;
  /** The possible values of a `choice` or of `choices`; otherwise empty. */
  readonly options: readonly FormOption[];
  /** The value of the field if the user enters none. Default: none. */
  readonly default?: FormValue;
}

/** The formats that a text may have. */
export const FORM_FORMATS = ['email', 'uri', 'date', 'date-time'] as const;
/** The formats that a text may have. */
export type FormFormat = (typeof FORM_FORMATS)[number];

const FORMAT_WORDS: Readonly<Record<FormFormat, string>> = {
  email: 'e-mail address',
  uri: 'URL',
  date: 'date, such as 2026-11-27',
  'date-time': 'time, such as 2026-11-27T12:00:00Z',
};

const TYPE_WORDS: Readonly<Record<FormField['type'], string>> = {
  text: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  choice: 'one of these',
  choices: 'any of these, separated by commas',
};

/** Describes a field for the user: its name and what it may hold, then the server's description, then its options. */
export function describeField(field: FormField): readonly string[] {
  const { name, title, description, options } = field;
  const titled = title === '' || title === name ? name : `${name} (${title})`;
  return [
    `${titled}: ${describeKind(field)}`,
    ...(description === '' ? [] : [`    ${description}`]),
    ...options.map(({ value, title: words }, index) =>
      words === '' || words === value
        ? `    ${index + 1}  ${value}`
        : `    ${index + 1}  ${value}: ${words}`,
    ),
  ];
}

function describeKind(field: FormField): string {
  const { type, format, isRequired } = field;
  const preset = field.default;
  return [
    format === undefined ? TYPE_WORDS[type] : FORMAT_WORDS[format],
    ...describeBounds(field),
    isRequired ? 'required' : 'optional',
    ...(preset === undefined ? [] : [`default ${formatFormValue(preset)}`]),
  ].join(', ');
}

function describeBounds({ type, minimum, maximum }: FormField): readonly string[] {
  if (minimum === undefined && maximum === undefined) return [];
  const unit = { text: ' characters', choices: ' of them' }[type as string] ?? '';
  if (maximum === undefined) return [`at least ${minimum}${unit}`];
  return [minimum === undefined ? `at most ${maximum}${unit}` : `${minimum} to ${maximum}${unit}`];
}

/** Formats a value as the user types it. */
function formatFormValue(value: FormValue): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? value.join(', ') : String(value);
}

/** Returns the text of a form that the user completes: one line for each field, with its default. */
export function formTemplate(fields: readonly FormField[]): string {
  return fields
    .map(
      ({ name, default: preset }) =>
        `${name}: ${preset === undefined ? '' : formatFormValue(preset)}`,
    )
    .join('\n');
}

/** Formats the values of a form on one line, for people. */
export function formatFormValues(values: FormValues): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${formatFormValue(value)}`)
    .join('; ');
}
