import type { Role } from '../render/theme.ts';

/** A piece of code, and what it is. */
export interface CodeRun {
  readonly role: Role;
  readonly text: string;
}

/** Classes of the library, by the first part of their names; all others are drawn as code is. */
const ROLES: Readonly<Record<string, Role>> = {
  keyword: 'keyword',
  literal: 'literal',
  number: 'literal',
  symbol: 'literal',
  string: 'string',
  regexp: 'string',
  'meta-string': 'string',
  comment: 'dim',
  quote: 'dim',
  meta: 'dim',
  doctag: 'dim',
  title: 'name',
  type: 'name',
  built_in: 'name',
  class: 'name',
  section: 'name',
  tag: 'name',
  name: 'name',
  attr: 'name',
  attribute: 'name',
  'selector-tag': 'name',
  'selector-class': 'name',
  'selector-id': 'name',
  addition: 'added',
  deletion: 'removed',
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

const TAG = /<span class="hljs-([\w-]+)[^"]*">|<span [^>]*>|<\/span>/g;

/**
 * What the library says of `code`, in HTML, as runs that give the code again. Null: they would not, and
 * what is shown must be what was written.
 */
export function codeRuns(html: string, code: string): readonly CodeRun[] | null {
  const runs: CodeRun[] = [];
  const open: Role[] = [];
  let at = 0;
  const add = (end: number) => {
    const text = html.slice(at, end).replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, unescaped);
    if (text !== '') runs.push({ role: open.at(-1) ?? 'text', text });
  };
  for (const tag of html.matchAll(TAG)) {
    add(tag.index);
    at = tag.index + tag[0].length;
    if (tag[0] === '</span>') open.pop();
    else open.push(ROLES[tag[1] ?? ''] ?? open.at(-1) ?? 'text');
  }
  add(html.length);
  return runs.map(({ text }) => text).join('') === code ? runs : null;
}

function unescaped(entity: string): string {
  return ENTITIES[entity] ?? entity;
}

/** The runs of each line. */
export function runLines(runs: readonly CodeRun[]): readonly (readonly CodeRun[])[] {
  const lines: CodeRun[][] = [[]];
  for (const { role, text } of runs) {
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (piece !== '') lines.at(-1)?.push({ role, text: piece });
    }
  }
  return lines;
}
