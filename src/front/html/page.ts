import { createHash } from 'node:crypto';
import { formatCost, formatCount } from '../../report/cost-text.ts';
import { formatUtc } from '../../report/figures.ts';
import { findTreeBoard, type TreeReport, type TreeRow } from '../../report/tree-report.ts';
import { formatDuration, collapseWhitespace, plural } from '../../base/text.ts';
import { VERSION } from '../../base/version.ts';
import { LOG_VERSION } from '../../protocol/events/event.ts';
import type { UsageTotal } from '../../protocol/state/ledger.ts';
import { html } from '../../base/html.ts';
import type { EventLines } from './event-lines.ts';
import { axis, laneSvg, legend } from './lane.ts';
import type { TaskDiff } from './task-diffs.ts';
import { taskDetails, detailsTitle } from './task-details.ts';
import { boardSection } from './board-section.ts';

/** The maximum number of tasks on a page; the other tasks are only counted. */
const SHOWN_TASKS = 2_000;

/**
 * Writes a tree of tasks as one self-contained page, without scripts, network access or other styles. The content
 * security policy of the page enforces this. The page is yielded in pieces, because a large page has megabytes.
 */
export function* treePage(
  tree: TreeReport,
  { events, diffs }: { readonly events: EventLines; readonly diffs: ReadonlyMap<string, TaskDiff> },
): Generator<string, void, undefined> {
  const rows = tree.rows.slice(0, SHOWN_TASKS);
  const omitted = tree.rows.length - rows.length;
  yield head(formatTitle(tree));
  yield `<header><h1>${html(formatTitle(tree))}</h1><p class="soft">muster tasks show, from the logs of these tasks alone. Look through it before you pass it on: it quotes prompts, answers, paths and commands.</p>${overview(tree)}</header>\n<main>\n`;
  yield `<h2 id="timeline">Timeline</h2>\n${legend(tree.rows.flatMap(({ report }) => report?.spans ?? []))}\n`;
  yield zooms();
  yield `<div class="lanes" tabindex="0" role="region" aria-labelledby="timeline"><div class="rows">\n`;
  yield `<div class="row axis"><b>seconds</b>${axis(tree)}</div>\n`;
  for (const [at, row] of rows.entries()) yield lane(row, at, tree);
  yield `</div></div>\n<h2>Tasks</h2>\n`;
  if (omitted > 0)
    yield `<p>${plural(omitted, 'more task')} left out: this page shows ${SHOWN_TASKS}.</p>\n`;
  const { from } = tree;
  for (const [at, row] of rows.entries())
    yield taskDetails(row, at, { events, from, diff: diffs.get(row.id) ?? null });
  yield boardSection(findTreeBoard(tree));
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

function formatTitle({ rows }: TreeReport): string {
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
    ['began', formatUtc(from)],
    ['took', formatDuration(to - from)],
    ['tasks', statuses(rows)],
    ['tokens', tokensText(reported)],
    ['cost', formatCost(reported)],
    ...(estimated.answers === 0
      ? []
      : [['and about (estimated)', `${tokensText(estimated)}, ${formatCost(estimated)}`] as const]),
  ];
  const items = facts.map(
    ([name, value]) =>
      `<div><dt>${html(name)}</dt><dd>${html(collapseWhitespace(value))}</dd></div>`,
  );
  return `<dl>${items.join('')}</dl>`;
}

function tokensText({ usage }: UsageTotal): string {
  return `${formatCount(usage.input + usage.cacheWrite)} in, ${formatCount(usage.output)} out, ${formatCount(usage.cacheRead)} cached`;
}

/** Counts the tasks by status: `9: 8 completed, 1 failed`. */
function statuses(rows: readonly TreeRow[]): string {
  const counts = Map.groupBy(rows, ({ report }) => report?.status ?? 'without a log');
  const words = Array.from(counts, ([status, { length }]) => `${length} ${status}`);
  return `${rows.length}: ${words.join(', ')}`;
}

/** Writes the radio buttons of the zoom. They work without a script: the style sheet reacts to the checked button. */
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

/** The zoom steps of the timeline; each has a radio button `zN`. */
const ZOOMS = [1, 2, 5, 20, 100] as const;

/** The only style sheet of the page, which the content security policy allows by its hash. */
const STYLE = `
:root { color-scheme: light dark; --back: #fff; --fore: #1c2128; --soft: #59636e; --line: #d1d9e0; --panel: #f6f8fa; --link: #0550ae;
  --model: #0969da; --tool: #1a7f37; --children: #8250df; --person: #bc4c00; --slot: #6e7781; --held: #cf222e; --retry: #9a6700; --away: #1c2128; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --fore: #e6edf3; --soft: #9198a1; --line: #3d444d; --panel: #151b23; --link: #79c0ff;
    --model: #58a6ff; --tool: #56d364; --children: #bc8cff; --person: #ffa657; --slot: #9198a1; --held: #ff7b72; --retry: #e3b341; --away: #e6edf3; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 100rem; background: var(--back); color: var(--fore); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: .95rem; margin: 1rem 0 .25rem; }
a { color: var(--link); }
p { margin: .25rem 0 .75rem; }
.soft { color: var(--soft); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
pre, code, .id { font: 12.5px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0; padding: .6rem .75rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; max-height: 30rem; overflow: auto; }
pre.words { white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .75rem; margin: 1rem 0; }
dl div { padding: .5rem .75rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
.zoom { position: absolute; opacity: 0; }
.zooms label { display: inline-block; padding: 0 .6rem; margin-right: .25rem; border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
.lanes { overflow: auto; max-height: 75vh; border: 1px solid var(--line); border-radius: 6px; margin-top: .5rem; }
.rows { --name: 15rem; --zoom: 1; width: calc(var(--name) + (100% - var(--name)) * var(--zoom)); min-width: 40rem; }
.row { display: grid; grid-template-columns: var(--name) 1fr; height: 22px; align-items: center; content-visibility: auto; contain-intrinsic-size: auto 22px; }
.row:nth-child(even) { background: var(--panel); }
.row > a, .row > b { position: sticky; left: 0; padding: 0 .5rem; background: inherit; z-index: 1; font-size: .85rem; line-height: 22px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-decoration: none; }
.row:nth-child(odd) > a { background: var(--back); }
.row > a:hover, .row > a:focus { text-decoration: underline; }
.row svg { display: block; width: 100%; height: 14px; }
.axis { position: sticky; top: 0; z-index: 2; background: var(--panel); border-bottom: 1px solid var(--line); content-visibility: visible; }
.axis svg { height: 22px; }
.axis text { font-size: 11px; fill: var(--soft); }
.axis line { stroke: var(--line); }
.k5, .k20, .k100 { display: none; }
path { stroke-width: .75px; vector-effect: non-scaling-stroke; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .5rem 0; list-style: none; font-size: .85rem; }
.legend svg { width: 28px; height: 14px; vertical-align: middle; margin-right: .35rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .35rem 0; }
details > div { padding: 0 .75rem .75rem; }
.task { content-visibility: auto; contain-intrinsic-size: auto 36px; }
summary { padding: .35rem .75rem; cursor: pointer; overflow-wrap: anywhere; }
summary .figures { color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums; }
.status { font-weight: 600; }
.flag { color: var(--held); font-weight: 600; }
.failed > summary .status, .killed > summary .status, .interrupted > summary .status { color: var(--held); }
.partial > summary .status, .stopped > summary .status, .parked > summary .status { color: var(--person); }
.l1 { margin-left: 1.25rem; } .l2 { margin-left: 2.5rem; } .l3 { margin-left: 3.75rem; } .l4 { margin-left: 5rem; }
${['model', 'tool', 'children', 'person', 'slot', 'held', 'retry', 'away']
  .map((kind) => `.${kind} { fill: var(--${kind}); stroke: var(--${kind}); }`)
  .join('\n')}
${ZOOMS.map(zoomRules).join('\n')}
`;

/**
 * Writes the style rules of a zoom step, which widen the lanes, mark the step, and show as many marks of the axis as
 * fit.
 */
function zoomRules(zoom: number): string {
  const marks = [5, 20, 100].filter((step) => step <= zoom).map((step) => `.k${step}`);
  const chosen = `#z${zoom}:checked`;
  return [
    `${chosen} ~ .lanes .rows { --zoom: ${zoom}; }`,
    `${chosen} ~ .zooms label[for=z${zoom}] { background: var(--fore); color: var(--back); }`,
    `#z${zoom}:focus-visible ~ .zooms label[for=z${zoom}] { outline: 2px solid var(--link); outline-offset: 2px; }`,
    ...marks.map((mark) => `${chosen} ~ .lanes ${mark} { display: inline; }`),
  ].join('\n');
}
