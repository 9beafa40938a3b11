import { describeField } from '../protocol/form.ts';
import type { FormField } from '../protocol/form.ts';
import type { ServerQuestion } from '../protocol/question.ts';

/**
 * Describes a question of an MCP server for the user: who asks, its words, each marked by `>`, and the form or the
 * address. The lines hold texts of the server, and must be made safe to print.
 */
export function describeServerQuestion({
  server,
  text,
  fields,
  url,
}: Pick<ServerQuestion, 'server' | 'text' | 'fields' | 'url'>): readonly string[] {
  return [
    `The MCP server ${server} asks this, not Muster. ${url === null ? FORM_WARNING : PAGE_WARNING}`,
    ...text.split('\n').map((line) => `> ${line}`),
    ...(url === null ? fields.flatMap(describeField) : [`host: ${hostOf(url)}`, `page: ${url}`]),
  ];
}

const FORM_WARNING =
  'Enter no password and no key: what you enter goes to the server, and is kept in the log.';
const PAGE_WARNING = 'Muster does not open the page. Look at the host before you do.';

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '?';
}

/** Tells whether a question of a server can be accepted without filling in anything. */
export function canAcceptAsShown({ fields }: Pick<ServerQuestion, 'fields'>): boolean {
  return fields.every((field) => !field.isRequired || field.default !== undefined);
}

/** Lists the values of a form whose only field has few of them, so that one key chooses a value. */
export function listFewOptions({ fields }: Pick<ServerQuestion, 'fields'>): readonly string[] {
  const [only] = fields;
  if (only === undefined || fields.length > 1) return [];
  const values = optionValues(only);
  return values.length <= MAX_KEYS ? values : [];
}

/** The number of keys that choose an option. */
const MAX_KEYS = 4;

function optionValues({ type, options }: FormField): readonly string[] {
  if (type === 'boolean') return ['yes', 'no'];
  return type === 'choice' ? options.map(({ value }) => value) : [];
}
