import { UsageError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { TemplateItem } from '../../protocol/template.ts';

/** The maximum number of items of one run, and the maximum number of bytes of all of them. */
export const MAX_ITEMS = 10_000;
export const MAX_ITEM_BYTES = 64 * 1024 * 1024;
/**
 * The maximum number of levels of an item that is an object, since a value of unlimited depth cannot be written.
 */
const MAX_ITEM_DEPTH = 100;

/**
 * Parses the items of a text. A name that ends in `.json` means JSON, and one in `.jsonl` or `.ndjson` one value per
 * line. Otherwise a text that is a JSON list, or has a JSON object on every line, is read as such, and any other text
 * has one item per line, without blank lines. Throws UsageError that names `where` and the line or item.
 */
export function parseItems(text: string, where: string): readonly TemplateItem[] {
  const plain = text.replace(/^\uFEFF/, '');
  const items = itemsIn(plain, where);
  if (items.length === 0) throw new UsageError(`${where} holds no items`);
  if (items.length > MAX_ITEMS) {
    throw new UsageError(
      `${where} holds ${items.length} items; the limit of one run is ${MAX_ITEMS}`,
    );
  }
  return items;
}

function itemsIn(text: string, where: string): readonly TemplateItem[] {
  if (/\.json$/i.test(where)) return listItems(parseJson(text, where), where);
  const lines = text.split(/\r?\n/);
  if (/\.(?:jsonl|ndjson)$/i.test(where)) return lineItems(lines, where);
  const list = text.trimStart().startsWith('[') ? tryJson(text) : undefined;
  if (Array.isArray(list)) return listItems(list, where);
  const full = lines.filter((line) => line.trim() !== '');
  const areObjects = full.every((line) => line.startsWith('{') && isJsonObject(tryJson(line)));
  return areObjects ? lineItems(lines, where) : full;
}

function listItems(value: unknown, where: string): readonly TemplateItem[] {
  if (!Array.isArray(value)) throw new UsageError(`${where}: must be a JSON list of items`);
  return value.map((each: unknown, index) => asItem(each, `${where}: item ${index + 1}`));
}

function lineItems(lines: readonly string[], where: string): readonly TemplateItem[] {
  return lines.flatMap((line, index) =>
    line.trim() === ''
      ? []
      : [asItem(parseJson(line, `${where}:${index + 1}`), `${where}:${index + 1}`)],
  );
}

function asItem(value: unknown, where: string): TemplateItem {
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
  const value = tryJson(text);
  if (value === undefined) throw new UsageError(`${where}: is not JSON`);
  return value;
}

/** Parses JSON. Returns undefined if the text is not JSON. */
function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Told by whoever needs it to be JSON.
    return undefined;
  }
}
