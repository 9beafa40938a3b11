import { foldFieldName } from '../fields/field-reader.ts';

/** `name:` of YAML, `"name":` of JSON, `name =` of TOML, at the beginning of a line. */
const ENTRY = /^\s*(?:- )?["']?([A-Za-z][\w.-]*)["']?\s*[:=]/;
/** Fields stand at the top of a file; a prompt may hold anything. */
const LINES_READ = 400;

/**
 * The line, from 1, on which a field of any of these names stands, however it is spelt. A guess by the
 * form of the line, for pointing at; undefined: none does.
 */
export function fieldLine(text: string | null, names: readonly string[]): number | undefined {
  if (text === null) return undefined;
  const wanted = new Set(names.map(foldFieldName));
  const lines = text.split('\n', LINES_READ);
  const index = lines.findIndex((line) => {
    const name = ENTRY.exec(line)?.[1];
    return name !== undefined && wanted.has(foldFieldName(name));
  });
  return index === -1 ? undefined : index + 1;
}
