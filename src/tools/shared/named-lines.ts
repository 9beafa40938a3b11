const MAX_LINES_NAMED = 10;

/** `line 3`, `lines 3, 8, 12`, each once, at most ten of them. */
export function namedLines(all: readonly number[]): string {
  const lines = [...new Set(all)];
  const shown = lines.slice(0, MAX_LINES_NAMED).join(', ');
  const more = lines.length > MAX_LINES_NAMED ? ' and more' : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}${more}`;
}
