import { createHash } from 'node:crypto';
import { escapeTags } from '../../base/control-tags.ts';
import type { TemplateItem } from '../../protocol/template.ts';

/** A part of the text of a template. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** The full item if `field` is null, otherwise a field of the item. */
  | { readonly kind: 'item'; readonly field: string | null }
  | { readonly kind: 'index' }
  | { readonly kind: 'count' };

export interface ParsedTemplate {
  readonly parts: readonly TemplatePart[];
  /** The texts of placeholders that do not exist. */
  readonly unknown: readonly string[];
}

/** Matches `{{…}}`, and `\\{{`, which means two braces. */
const PLACEHOLDER = /\\\{\{|\{\{([^{}]*)\}\}/g;
const FIELD = /^item\.([A-Za-z_][\w-]*)$/;

/** Splits the text of a template into parts. Rendering the parts never replaces placeholders in an item. */
export function parseBody(body: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  const unknown: string[] = [];
  let end = 0;
  for (const match of body.matchAll(PLACEHOLDER)) {
    parts.push({ kind: 'text', text: body.slice(end, match.index) });
    end = match.index + match[0].length;
    const part = parsePlaceholder(match[1]);
    if (part === null) unknown.push(match[0]);
    else parts.push(part);
  }
  parts.push({ kind: 'text', text: body.slice(end) });
  return { parts, unknown };
}

/**
 * Parses a placeholder. Returns null for an unknown placeholder.
 *
 * @param inside the text between the braces, or undefined for escaped braces
 */
function parsePlaceholder(inside: string | undefined): TemplatePart | null {
  if (inside === undefined) return { kind: 'text', text: '{{' };
  const name = inside.trim();
  switch (name) {
    case 'item':
      return { kind: 'item', field: null };
    case 'index':
    case 'count':
      return { kind: name };
    default: {
      const field = FIELD.exec(name)?.[1];
      return field === undefined ? null : { kind: 'item', field };
    }
  }
}

/** Returns the fields that a template uses, but that an item does not have. */
export function findMissingFields(
  parts: readonly TemplatePart[],
  item: TemplateItem,
): readonly string[] {
  const named = parts.flatMap((part) =>
    part.kind === 'item' && part.field !== null ? [part.field] : [],
  );
  return [...new Set(named)].filter((field) => fieldText(item, field) === undefined);
}

/** An item and its position among the items of a template's run. */
export interface ItemPosition {
  readonly item: TemplateItem;
  /** The position of the item, from 0. In the text, `{{index}}` counts from 1. */
  readonly index: number;
  readonly count: number;
}

/**
 * Returns the prompt for an item. The item is data, so tags in it that could control models are escaped. A missing
 * field becomes an empty text, because the caller has already reported it with `findMissingFields`.
 */
export function renderPrompt(parts: readonly TemplatePart[], position: ItemPosition): string {
  const { item, index, count } = position;
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

/** Returns the text of an item. An object becomes JSON. */
export function itemText(item: TemplateItem): string {
  return typeof item === 'string' ? item : JSON.stringify(item);
}

/** Returns a hash that identifies an item. */
export function itemDigest(item: TemplateItem): string {
  return createHash('sha256').update(JSON.stringify(item)).digest('hex');
}

function fieldText(item: TemplateItem, field: string): string | undefined {
  if (typeof item === 'string' || !Object.hasOwn(item, field)) return undefined;
  const value = item[field];
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
