import { normalizeFieldName } from '../fields/field-reader.ts';

/** `name:` in YAML, `"name":` in JSON, or `name =` in TOML, at the beginning of a line. */
const ENTRY = /^\s*(?:- )?["']?([A-Za-z][\w.-]*)["']?\s*[:=]/;
/** The number of lines that are searched: fields are at the top of a file, and a prompt may contain anything. */
const MAX_LINES = 400;

/**
 * Finds the line, from 1, of a field with one of these names in any spelling. It is a guess from the form of the
 * line, good enough to show a person. Undefined: there is none.
 */
export function fieldLine(text: string | null, names: readonly string[]): number | undefined {
  if (text === null) return undefined;
  const wanted = new Set(names.map(normalizeFieldName));
  const lines = text.split('\n', MAX_LINES);
  const index = lines.findIndex((line) => {
    const name = ENTRY.exec(line)?.[1];
    return name !== undefined && wanted.has(normalizeFieldName(name));
  });
  return index === -1 ? undefined : index + 1;
}
