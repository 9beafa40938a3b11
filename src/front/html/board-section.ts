import { html } from '../../base/html.ts';
import type { BoardFinding } from '../../protocol/board.ts';
import { findingTitle } from '../../report/board-lines.ts';
import { formatUtc } from '../../report/figures.ts';

/** The maximum number of findings on a page. A log from elsewhere can contain any number. */
const MAX_FINDINGS = 1_000;

/** Writes the findings of a board, each folded until the reader opens it; returns an empty text if there are none. */
export function boardSection(board: readonly BoardFinding[]): string {
  if (board.length === 0) return '';
  const omitted = board.length - MAX_FINDINGS;
  const more = omitted > 0 ? `<p>${omitted} more findings left out.</p>\n` : '';
  const items = board.slice(0, MAX_FINDINGS).map(findingDetails);
  return `<h2>Board</h2>\n<p class="soft">What the tasks posted for each other.</p>\n${items.join('')}${more}`;
}

function findingDetails(finding: BoardFinding): string {
  const { text, author } = finding;
  const by = `${author.agent} · ${formatUtc(author.at)} · `;
  return `<details><summary>${html(findingTitle(finding))} <span class="figures">${html(by)}<span class="id">${html(author.task)}</span></span></summary><div><pre class="words" tabindex="0">${html(text, 'prose')}</pre></div></details>\n`;
}
