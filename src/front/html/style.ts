/** The zoom steps of the timeline; each has a radio button `zN`. */
export const ZOOMS = [1, 2, 5, 20, 100] as const;

/** The only stylesheet of the page: the content security policy allows it by its hash. */
export const STYLE = `
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

/** The rules of a zoom step: it widens the lanes, is marked, and shows as many marks of the axis as fit. */
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
