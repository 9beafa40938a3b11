import { formatLocalMinute } from '../base/local-time.ts';
import { plural, truncate } from '../base/text.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { MAX_FINDING_TITLE, type BoardFinding } from '../protocol/board.ts';

/** Returns the title of a finding on one line. A title in a log from elsewhere can be long. */
export function findingTitle({ title }: Pick<BoardFinding, 'title'>): string {
  return sanitizeLine(truncate(title, MAX_FINDING_TITLE));
}

/** Describes who posted a finding and when, in the local time zone: `Explore 4f2k9x81mq0z, 2026-03-01 17:05`. */
function findingAuthor({ author }: Pick<BoardFinding, 'author'>): string {
  return `${sanitizeLine(author.agent)} ${author.task}, ${formatLocalMinute(author.at)}`;
}

/**
 * Lists the findings of a board for people, one line each, in the order of the board.
 *
 * @param maxLines the number of newest findings that are shown; the others are counted
 */
export function boardLines(board: readonly BoardFinding[], maxLines = Infinity): readonly string[] {
  const shown = board.slice(-maxLines);
  const omitted = board.length - shown.length;
  return [
    ...(omitted === 0 ? [] : [`(${plural(omitted, 'finding')} before these)`]),
    ...shown.map((each) => `${each.finding}  ${findingTitle(each)} (${findingAuthor(each)})`),
  ];
}

/** Writes one finding for people: its title, its author and its text, line by line. */
export function findingLines(finding: BoardFinding): readonly string[] {
  return [findingTitle(finding), findingAuthor(finding), '', ...finding.text.split('\n')];
}
