import { definedName, indentOf } from './definition.ts';

/** However far out such a line is, it encloses nothing: blank, a comment, a label, the end of a head. */
const STANDS_ANYWHERE = /^\s*(?:$|#|\/[/*]|\*|\)|\{\s*$|\w+:\s*$)/;

/**
 * What the definition is called that a line is, or stands in by how far lines are indented; null where
 * none is sure. `textAt`: the text of each line, from 1.
 */
export function enclosingName(textAt: (line: number) => string, line: number): string | null {
  const here = textAt(line);
  const own = definedName(here);
  if (own !== null) return own;
  let indent = here.trim() === '' ? Infinity : indentOf(here);
  for (let at = line - 1; at > 0 && indent > 0; at -= 1) {
    const text = textAt(at);
    if (STANDS_ANYWHERE.test(text) || indentOf(text) >= indent) continue;
    const name = definedName(text);
    if (name !== null) return name;
    indent = indentOf(text);
  }
  return null;
}
