import { errorMessage } from '../../base/errors.ts';
import { locateKeys } from '../../base/toml-statements.ts';
import { normalizeText, toJson, unreadableFile, type Field, type FileFields } from './fields.ts';

const MAX_NESTING = 32;

/**
 * Reads the top-level fields of a TOML file with their lines. Loads the TOML library at the first call. Never throws.
 */
export async function parseTomlFields(text: string): Promise<FileFields> {
  const toml = normalizeText(text);
  const { parse, TomlError } = await import('smol-toml');
  const options = { maxDepth: MAX_NESTING };
  try {
    const table = parse(toml, options);
    const lines = new Map<string, number>();
    for (const { path, line } of locateKeys(toml, (part) => parse(part, options))) {
      const [key] = path;
      if (key !== undefined && !lines.has(key)) lines.set(key, line);
    }
    const fields = new Map<string, Field>();
    for (const [key, value] of Object.entries(table)) {
      if (key !== '__proto__') fields.set(key, { value: toJson(value), line: lines.get(key) });
    }
    return { ok: true, fields, problems: [] };
  } catch (error) {
    const line = error instanceof TomlError ? error.line : undefined;
    const cause = errorMessage(error).split('\n', 1)[0]?.replace('Invalid TOML document: ', '');
    const where = line === undefined ? '' : ` at line ${line}`;
    const message = `It is not valid TOML${where}: ${cause}. Correct it.`;
    return unreadableFile('invalid-toml', message, line);
  }
}
