import { createHash } from 'node:crypto';
import { costText, countText } from '../../report/cost-text.ts';
import { utcText } from '../../report/figures.ts';
import type { TreeReport, TreeRow } from '../../report/tree-report.ts';
import { formatDuration, collapseWhitespace, plural } from '../../base/text.ts';
import { VERSION } from '../../base/version.ts';
import { LOG_VERSION } from '../../protocol/events/event.ts';
import type { UsageTotal } from '../../protocol/state/ledger.ts';
import { html } from './escape.ts';
import type { EventLines } from './event-lines.ts';
import { axis, laneSvg, legend } from './lane.ts';
import { STYLE, ZOOMS } from './style.ts';
import { taskDetails, detailsTitle } from './task-details.ts';

/** The number of tasks on a page; others are only counted. */
const SHOWN_TASKS = 2_000;

/**
 * Writes a tree of tasks as one self-contained page, without scripts, network access or other styles, which its content
 * security policy enforces. The page comes in pieces, because a large one has megabytes.
 */
export function* treePage(
  tree: TreeReport,
  events: EventLines,
): Generator<string, void, undefined> {
  const rows = tree.rows.slice(0, SHOWN_TASKS);
  const omitted = tree.rows.length - rows.length;
  yield head(titleOf(tree));
  yield `<header><h1>${html(titleOf(tree))}</h1><p class="soft">muster tasks show, from the logs of these tasks alone. Look through it before you pass it on: it quotes prompts, answers, paths and commands.</p>${overview(tree)}</header>\n<main>\n`;
  yield `<h2 id="timeline">Timeline</h2>\n${legend(tree.rows.flatMap(({ report }) => report?.spans ?? []))}\n`;
  yield zooms();
  yield `<div class="lanes" tabindex="0" role="region" aria-labelledby="timeline"><div class="rows">\n`;
  yield `<div class="row axis"><b>seconds</b>${axis(tree)}</div>\n`;
  for (const [at, row] of rows.entries()) yield lane(row, at, tree);
  yield `</div></div>\n<h2>Tasks</h2>\n`;
  if (omitted > 0)
    yield `<p>${plural(omitted, 'more task')} left out: this page shows ${SHOWN_TASKS}.</p>\n`;
  const { from } = tree;
  for (const [at, row] of rows.entries()) yield taskDetails(row, at, { events, from });
  yield '</main>\n</body>\n</html>\n';
}

function head(title: string): string {
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="muster ${html(VERSION)}, log version ${LOG_VERSION}">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
`;
}

function titleOf({ rows }: TreeReport): string {
  const report = rows[0]?.report;
  return report ? detailsTitle(report) : 'a task';
}

function overview({ rows, from, to, reported, estimated }: TreeReport): string {
  const top = rows[0]?.report;
  if (!top) return '';
  const ending = top.end === null ? '' : `: ${top.end.because}`;
  const facts: readonly (readonly [string, string])[] = [
    ['task', top.id],
    ['status', `${top.status}${ending}`],
    ['model', top.model],
    ['began', utcText(from)],
    ['took', formatDuration(to - from)],
    ['tasks', statuses(rows)],
    ['tokens', tokensText(reported)],
    ['cost', costText(reported)],
    ...(estimated.answers === 0
      ? []
      : [['and about (estimated)', `${tokensText(estimated)}, ${costText(estimated)}`] as const]),
  ];
  const items = facts.map(
    ([name, value]) =>
      `<div><dt>${html(name)}</dt><dd>${html(collapseWhitespace(value))}</dd></div>`,
  );
  return `<dl>${items.join('')}</dl>`;
}

function tokensText({ usage }: UsageTotal): string {
  return `${countText(usage.input + usage.cacheWrite)} in, ${countText(usage.output)} out, ${countText(usage.cacheRead)} cached`;
}

/** The number of tasks by status: `9: 8 completed, 1 failed`. */
function statuses(rows: readonly TreeRow[]): string {
  const counts = Map.groupBy(rows, ({ report }) => report?.status ?? 'without a log');
  const words = Array.from(counts, ([status, { length }]) => `${length} ${status}`);
  return `${rows.length}: ${words.join(', ')}`;
}

/** Radio buttons before the lanes. Only the style reacts to them, and the arrow keys work. */
function zooms(): string {
  const inputs = ZOOMS.map(
    (zoom) =>
      `<input class="zoom" type="radio" name="zoom" id="z${zoom}"${zoom === 1 ? ' checked' : ''}>`,
  );
  const labels = ZOOMS.map((zoom) => `<label for="z${zoom}">${zoom} ×</label>`);
  return `${inputs.join('')}<div class="zooms"><span class="soft">Zoom</span> ${labels.join('')}</div>\n`;
}

function lane({ id, level, report }: TreeRow, at: number, tree: TreeReport): string {
  const title = report === null ? id : detailsTitle(report);
  const indent = '· '.repeat(Math.min(level, 4));
  const drawing = report === null ? '' : laneSvg(report.spans, tree);
  return `<div class="row"><a href="#t${at}" title="${html(`${title} (${id})`)}">${indent}${html(title)}</a>${drawing}</div>\n`;
}
