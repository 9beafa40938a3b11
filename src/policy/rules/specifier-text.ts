/**
 * The bracketed part of a rule. Backslashes mean something only directly before a bracket or the end,
 * where two stand for one and an odd one makes the bracket a plain character.
 */

const BRACKET_WITH_SLASHES = /(\\*)([()])/g;

/** `(…)` with nothing before or after it, unescaped; undefined when the text is anything else. */
export function readSpecifier(text: string): string | undefined {
  if (!text.startsWith('(')) return undefined;
  let specifier = '';
  let depth = 1;
  for (let at = 1; at < text.length;) {
    const slashes = slashesAt(text, at);
    const next = text[at + slashes];
    if (next !== '(' && next !== ')') {
      specifier += text.slice(at, at + slashes) + (next ?? '');
      at += slashes + 1;
      continue;
    }
    specifier += '\\'.repeat(Math.floor(slashes / 2));
    at += slashes + 1;
    if (slashes % 2 === 0) depth += next === '(' ? 1 : -1;
    if (depth === 0) return at === text.length ? specifier.trim() : undefined;
    specifier += next;
  }
  return undefined;
}

function slashesAt(text: string, at: number): number {
  let count = 0;
  while (text[at + count] === '\\') count += 1;
  return count;
}

/** The reverse: what `readSpecifier` reads as this specifier, brackets not included. */
export function escapeSpecifier(specifier: string): string {
  const escape = isBalanced(specifier) ? '' : '\\';
  return specifier
    .replace(BRACKET_WITH_SLASHES, (_, slashes: string, bracket: string) => {
      return slashes + slashes + escape + bracket;
    })
    .replace(/\\+$/, (slashes) => slashes + slashes);
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
