import { readQuery } from '../../base/code-search/query.ts';
import { countTerms, rankLocations } from '../../base/code-search/rank.ts';
import { formatRanking } from '../../base/code-search/format-ranking.ts';
import { TermFinder } from '../../base/code-search/term-finder.ts';
import type { PlannedCall } from './situation.ts';

/** Lines that Grep is asked for: the most that it returns. */
const MAX_LINES = 1000;
const MAX_LINE_NUMBER = 60_000;

/** The Grep call that finds the lines with words of a question; none when it has no words. */
export function grepCall(question: string): readonly PlannedCall[] {
  const { pattern } = new TermFinder(readQuery(question).terms);
  if (pattern === null) return [];
  const input = { pattern, output_mode: 'content', ignore_case: true, head_limit: MAX_LINES };
  return [{ name: 'Grep', input }];
}

/** Ranks the lines that Grep found, as if its files had no others, and describes the best places. */
export function rankFoundLines(
  found: string,
  options: { readonly question: string; readonly cwd: string; readonly maxPlaces: number },
): string {
  const query = readQuery(options.question);
  const finder = new TermFinder(query.terms);
  const texts = textsByPath(found, options.cwd);
  const files = [...texts].map(([path, text]) => countTerms(path, text, finder));
  const ranking = rankLocations(query, finder, {
    files,
    readText: (path) => texts.get(path) ?? null,
  });
  const report = formatRanking(ranking, { maxPlaces: options.maxPlaces, show: (path) => path });
  return `${report}\n\nFindPlaces was not available: only the lines that Grep returned were ranked.`;
}

/** The lines of each file at their numbers; those that Grep did not return are empty. */
function textsByPath(found: string, cwd: string): ReadonlyMap<string, string> {
  const files = new Map<string, string[]>();
  for (const each of found.split('\n')) {
    const [, shown, number, text = ''] = /^([^[].*?):(\d{1,9}):(.*)$/.exec(each) ?? [];
    if (shown === undefined || /\p{Cc}/u.test(shown) || Number(number) > MAX_LINE_NUMBER) continue;
    const path = shown.startsWith(`${cwd}/`) ? shown.slice(cwd.length + 1) : shown;
    const lines = files.get(path) ?? [];
    lines[Number(number) - 1] = text;
    files.set(path, lines);
  }
  return new Map(
    [...files].map(([path, lines]) => [path, Array.from(lines, (line) => line ?? '').join('\n')]),
  );
}
