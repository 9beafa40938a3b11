import { isJsonObject } from '../../base/json.ts';
import type { FieldProblem, Fields } from './fields.ts';
import { withLineFeeds } from './split.ts';
import { shownMessage } from '../fields/clean-text.ts';
import type { DefinitionFile, FileDefinitions } from '../loader/format.ts';

/** What a file that is data throughout gave: its outermost keys, or why it cannot be read. */
export type FileFields =
  | { readonly ok: true; readonly fields: Fields; readonly problems: readonly FieldProblem[] }
  | { readonly ok: false; readonly problem: FieldProblem };

export function unreadableFile(code: string, message: string, line?: number): FileFields {
  return { ok: false, problem: { code, message, ...(line === undefined ? {} : { line }) } };
}

/** The text without a byte order mark, every line end as `\n`. */
export function plainText(text: string): string {
  return withLineFeeds(text.startsWith('\uFEFF') ? text.slice(1) : text);
}

/** A file that gives no agent. */
export function notLoaded(
  file: Pick<DefinitionFile, 'path'>,
  problem: FieldProblem,
): FileDefinitions {
  const { code, message, line } = problem;
  const told = { code, message: shownMessage(message), path: file.path };
  return { items: [], problems: [line === undefined ? told : { ...told, line }] };
}

/** The fields, with those of an object in the place of it, under dotted names: `settings.max_turns`. */
export function spread(fields: Fields, name: string): Fields {
  const field = fields.get(name);
  if (field === undefined || !isJsonObject(field.value)) return fields;
  const inner = Object.entries(field.value).map(
    ([key, value]) => [`${name}.${key}`, { value: value ?? null, line: field.line }] as const,
  );
  return new Map([...fields, ...inner].filter(([key]) => key !== name));
}
