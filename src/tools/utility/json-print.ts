import type { JsonMember, JsonNode } from './json-tree.ts';

export interface PrintOptions {
  /** Blanks a level; 0: all on one line, without blanks. */
  readonly indent: number;
  /** Members by their names, and not as they came. */
  readonly sorted: boolean;
}

/** JSON text of a tree, its scalars as they were written. */
export function printJson(node: JsonNode, options: PrintOptions, level = 0): string {
  switch (node.kind) {
    case 'scalar':
      return node.raw;
    case 'array': {
      const items = node.items.map((item) => printJson(item, options, level + 1));
      return block('[', items, ']', options.indent, level);
    }
    case 'object': {
      const members = options.sorted ? node.members.toSorted(byName) : node.members;
      const colon = options.indent === 0 ? ':' : ': ';
      const lines = members.map(
        ({ raw, value }) => `${raw}${colon}${printJson(value, options, level + 1)}`,
      );
      return block('{', lines, '}', options.indent, level);
    }
  }
}

function byName(a: JsonMember, b: JsonMember): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}

function block(
  open: string,
  parts: readonly string[],
  close: string,
  indent: number,
  level: number,
): string {
  if (parts.length === 0) return open + close;
  if (indent === 0) return `${open}${parts.join(',')}${close}`;
  const outer = ' '.repeat(indent * level);
  const inner = ' '.repeat(indent * (level + 1));
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${outer}${close}`;
}
