import { UsageError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { TemplateItem } from '../../protocol/template.ts';

/** The maximum number of items of one run. */
export const MAX_ITEMS = 10_000;
/** The maximum number of bytes of all items of one run. */
export const MAX_ITEM_BYTES = 64 * 1024 * 1024;
/**
 * The maximum number of nested levels of an item, because a value of unlimited depth cannot be written as JSON.
 */
const MAX_ITEM_DEPTH = 100;

/**
 * Parses the items of a text. `where` is the name of its source. If this name ends in `.json`, the text must be a JSON
 * list; if it ends in `.jsonl` or `.ndjson`, each line must be a JSON value. Otherwise the text may be a JSON list or
 * have a JSON object on every line; any other text has one item per line, without blank lines. Throws UsageError with
 * `where` and the line or item.
 */
export function parseItems(text: string, where: string): readonly TemplateItem[] {
  const plain = text.replace(/^\uFEFF/, '');
  const items = parseByFormat(plain, where);
  if (items.length === 0) throw new UsageError(`${where} contains no items`);
  if (items.length > MAX_ITEMS) {
    throw new UsageError(
      `${where} contains ${items.length} items; the limit of one run is ${MAX_ITEMS}`,
    );
  }
  return items;
}

function parseByFormat(text: string, where: string): readonly TemplateItem[] {
  if (/\.json$/i.test(where)) return parseItemList(parseJson(text, where), where);
  const lines = text.split(/\r?\n/);
  if (/\.(?:jsonl|ndjson)$/i.test(where)) return parseItemLines(lines, where);
  const list = text.trimStart().startsWith('[') ? tryParseJson(text) : undefined;
  if (Array.isArray(list)) return parseItemList(list, where);
  const nonEmptyLines = lines.filter((line) => line.trim() !== '');
  const areObjects = nonEmptyLines.every(
    (line) => line.startsWith('{') && isJsonObject(tryParseJson(line)),
  );
  return areObjects ? parseItemLines(lines, where) : nonEmptyLines;
}

function parseItemList(value: unknown, where: string): readonly TemplateItem[] {
  if (!Array.isArray(value)) throw new UsageError(`${where}: must be a JSON list of items`);
  return value.map((each: unknown, index) => toItem(each, `${where}: item ${index + 1}`));
}

function parseItemLines(lines: readonly string[], where: string): readonly TemplateItem[] {
  return lines.flatMap((line, index) =>
    line.trim() === ''
      ? []
      : [toItem(parseJson(line, `${where}:${index + 1}`), `${where}:${index + 1}`)],
  );
}

function toItem(value: unknown, where: string): TemplateItem {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) throw new UsageError(`${where}: an item is a text or an object`);
  if (isDeeper(value, MAX_ITEM_DEPTH)) {
    throw new UsageError(`${where}: is nested deeper than ${MAX_ITEM_DEPTH} levels`);
  }
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function parseJson(text: string, where: string): unknown {
  const value = tryParseJson(text);
  if (value === undefined) throw new UsageError(`${where}: is not JSON`);
  return value;
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports the error if the text must be JSON.
    return undefined;
  }
}
