import type { Document, LineCounter, Pair, ParsedNode } from 'yaml';
import { errorMessage } from '../../base/errors.ts';
import { collectFields, type FieldProblem, type Fields } from './fields.ts';

type StrictResult =
  | { readonly ok: true; readonly fields: Fields; readonly problems: readonly FieldProblem[] }
  /** `line` counts in the file. */
  | { readonly ok: false; readonly message: string; readonly line: number };

let yamlLibrary: typeof import('yaml') | undefined;

/** The maximum number of uses of aliases. Agent files need fewer, and an attack with nested aliases needs more. */
const MAX_ALIAS_COUNT = 10;

/**
 * The maximum number of indicators in a text. The library needs about a second for this many, and a hostile file must
 * not take longer.
 */
export const MAX_INDICATORS = 50_000;
/** The characters that determine how long the library takes. */
const INDICATORS = new Set('[{,:?-&*\n');

/**
 * Reads front matter as YAML 1.2 (core schema). If a key occurs twice, the last value is used, as in JSON, with a
 * warning. Any other violation gives `ok: false`. Loads the YAML library.
 *
 * @param maxIndicators the maximum number of lines, commas, brackets and the like, all together
 */
export async function parseStrict(
  yaml: string,
  firstLine: number,
  maxIndicators = MAX_INDICATORS,
): Promise<StrictResult> {
  if (hasMoreIndicators(yaml, maxIndicators)) {
    const message = `more than ${maxIndicators} lines, commas, brackets and the like`;
    return { ok: false, message, line: firstLine };
  }
  // The library is cached, because importing a module again costs as much as parsing a small file.
  yamlLibrary ??= await import('yaml');
  const { isMap, isScalar, LineCounter, parseDocument } = yamlLibrary;
  const counter = new LineCounter();
  try {
    const document = parseDocument(yaml, {
      lineCounter: counter,
      logLevel: 'error',
      prettyErrors: false,
      resolveKnownTags: false,
      schema: 'core',
      stringKeys: true,
      uniqueKeys: false,
      version: '1.2',
    });
    const lineOf = (offset: number): number => firstLine + lineOfOffset(counter, offset) - 1;
    const [first] = document.errors;
    if (first !== undefined) {
      return { ok: false, message: first.message, line: lineOf(first.pos[0]) };
    }
    if (document.contents === null) return { ok: true, fields: new Map(), problems: [] };
    if (!isMap(document.contents)) {
      return { ok: false, message: 'not `key: value` lines', line: firstLine };
    }
    const keys = document.contents.items.map((pair: Pair<ParsedNode, ParsedNode | null>) => ({
      key: isScalar(pair.key) ? String(pair.key.value) : '',
      line: lineOf(pair.key.range[0]),
    }));
    const values = readValues(document);
    return { ok: true, ...collectFields(keys, (key) => values.get(key)) };
  } catch (error) {
    // The library throws for nested aliases that would fill the memory, and for nesting deeper than the stack. toJson
    // throws for values that are too large. All these are reported like a syntax error.
    return { ok: false, message: errorMessage(error), line: firstLine };
  }
}

function hasMoreIndicators(yaml: string, limit: number): boolean {
  if (yaml.length <= limit) return false;
  let count = 0;
  for (const char of yaml) {
    if (INDICATORS.has(char)) count += 1;
    if (count > limit) return true;
  }
  return false;
}

function lineOfOffset(counter: LineCounter, offset: number): number {
  // The counter returns 0 for a text without a line break.
  return Math.max(1, counter.linePos(offset).line);
}

function readValues(document: Document.Parsed): ReadonlyMap<unknown, unknown> {
  const values: unknown = document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIAS_COUNT });
  return values instanceof Map ? values : new Map<unknown, unknown>();
}
