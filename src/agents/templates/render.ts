import { createHash } from 'node:crypto';
import { escapeTags } from '../../base/control-tags.ts';
import type { TemplateItem } from '../../protocol/template.ts';

/** What a template's text is made of. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** The item whole, or a field of it. */
  | { readonly kind: 'item'; readonly field: string | null }
  | { readonly kind: 'index' }
  | { readonly kind: 'count' };

export interface ParsedBody {
  readonly parts: readonly TemplatePart[];
  /** What stands in `{{…}}` and means nothing. */
  readonly unknown: readonly string[];
}

/** `\{{` is two braces, and no placeholder. */
const PLACEHOLDER = /\\\{\{|\{\{([^{}]*)\}\}/g;
const FIELD = /^item\.([A-Za-z_][\w-]*)$/;

/** Splits a template's text once: nothing of an item is ever looked at for placeholders. */
export function parseBody(body: string): ParsedBody {
  const parts: TemplatePart[] = [];
  const unknown: string[] = [];
  let end = 0;
  for (const match of body.matchAll(PLACEHOLDER)) {
    parts.push({ kind: 'text', text: body.slice(end, match.index) });
    end = match.index + match[0].length;
    const part = partOf(match[1]);
    if (part === null) unknown.push(match[0]);
    else parts.push(part);
  }
  parts.push({ kind: 'text', text: body.slice(end) });
  return { parts, unknown };
}

/** Undefined: escaped braces. Null: no such placeholder. */
function partOf(inside: string | undefined): TemplatePart | null {
  if (inside === undefined) return { kind: 'text', text: '{{' };
  const word = inside.trim();
  switch (word) {
    case 'item':
      return { kind: 'item', field: null };
    case 'index':
    case 'count':
      return { kind: word };
    default: {
      const field = FIELD.exec(word)?.[1];
      return field === undefined ? null : { kind: 'item', field };
    }
  }
}

/** Which of the fields that a template names an item lacks. */
export function missingFields(
  parts: readonly TemplatePart[],
  item: TemplateItem,
): readonly string[] {
  const named = parts.flatMap((part) =>
    part.kind === 'item' && part.field !== null ? [part.field] : [],
  );
  return [...new Set(named)].filter((field) => fieldText(item, field) === undefined);
}

export interface ItemPlace {
  readonly item: TemplateItem;
  /** From 0; `{{index}}` counts from 1. */
  readonly index: number;
  readonly count: number;
}

/**
 * The prompt for one item, which is data: tags in it that steer models are made harmless. A field that it lacks is left empty; `missingFields` tells of it before.
 */
export function renderPrompt(
  parts: readonly TemplatePart[],
  { item, index, count }: ItemPlace,
): string {
  return parts
    .map((part) => {
      switch (part.kind) {
        case 'text':
          return part.text;
        case 'item':
          return escapeTags(
            part.field === null ? itemText(item) : (fieldText(item, part.field) ?? ''),
          );
        case 'index':
          return String(index + 1);
        case 'count':
          return String(count);
        default:
          return part satisfies never;
      }
    })
    .join('');
}

/** An item as text: an object as the JSON that it is. */
export function itemText(item: TemplateItem): string {
  return typeof item === 'string' ? item : JSON.stringify(item);
}

/** What tells one item from another. */
export function itemDigest(item: TemplateItem): string {
  return createHash('sha256').update(JSON.stringify(item)).digest('hex');
}

function fieldText(item: TemplateItem, field: string): string | undefined {
  if (typeof item === 'string' || !Object.hasOwn(item, field)) return undefined;
  const value = item[field];
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
