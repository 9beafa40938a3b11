/** JSON that is nested deeper is left on one line, since its indent would be larger than itself. */
const MAX_DEPTH = 100;

/**
 * Puts JSON that stands on one line into lines with an indent of two spaces. Numbers and texts stay as they are
 * written. Any other text is returned unchanged.
 */
export function formatJson(source: string): string {
  const text = source.trim();
  if (text.includes('\n') || text.length < 2 || !isJson(text)) return source;
  const pieces: string[] = [];
  let depth = 0;
  for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)) {
    const isEmpty =
      (piece === '}' || piece === ']') &&
      pieces.at(-1)?.startsWith('\n') === true &&
      /^[[{]$/.test(pieces.at(-2) ?? '');
    if (piece === '{' || piece === '[') {
      depth += 1;
      if (depth > MAX_DEPTH) return source;
      pieces.push(piece, `\n${'  '.repeat(depth)}`);
    } else if (piece === '}' || piece === ']') {
      depth -= 1;
      if (isEmpty) pieces.splice(-1, 1, piece);
      else pieces.push(`\n${'  '.repeat(depth)}`, piece);
    } else if (piece === ',') pieces.push(`,\n${'  '.repeat(depth)}`);
    else pieces.push(piece === ':' ? ': ' : piece);
  }
  return pieces.join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return false;
    throw thrown;
  }
}
