import { useRef, useState } from 'preact/hooks';
import { formatDuration, plural } from '../../../../base/text.ts';
import { SPAN_KINDS, SPAN_NAMES } from '../../../../report/span.ts';
import type { TimelineRow } from '../../wire.ts';
import {
  axisMarks,
  drawBars,
  drawLane,
  LANE_HEIGHT,
  LANE_UNITS,
  sumSpans,
  type TimeScale,
} from '../model/time-scale.ts';
import { findStatusLook } from '../model/status-texts.ts';
import { StatusIcon } from './icons.tsx';
import { LoadState } from './load-state.tsx';
import { useLoaded, usePage } from './page-context.ts';
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx';

const ZOOMS = [1, 2, 5, 20] as const;
const ROW_HEIGHT = 30;

/** How a task and all tasks below it have spent their time. */
export function TimelineView({ id, progress }: { readonly id: string; readonly progress: string }) {
  const { store } = usePage();
  const loaded = useLoaded(id, progress, () => store.source.timeline(id));
  const [zoom, setZoom] = useState<number>(1);
  const list = useRef<VirtualListHandle>(null);
  if (loaded.kind !== 'loaded') return <LoadState state={loaded} />;
  const { from, to, rows, omitted } = loaded.data;
  const width = { width: `${zoom * 100}%` };
  return (
    <div class="timeline">
      <div class="timeline-tools">
        <ul class="legend">
          {SPAN_KINDS.map((kind) => (
            <li key={kind}>
              <svg viewBox={`0 0 24 ${LANE_HEIGHT}`} width="24" height="14" aria-hidden="true">
                <path class={kind} d={drawBars(kind, 1, 22)} />
              </svg>
              {SPAN_NAMES[kind]}
            </li>
          ))}
        </ul>
        <div class="zoom" role="group" aria-label="Zoom">
          {ZOOMS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={zoom === each}
              onClick={() => setZoom(each)}
            >
              {each}×
            </button>
          ))}
        </div>
      </div>
      <p class="soft">
        {plural(rows.length, 'task')}, {formatDuration(to - from)}
        {omitted > 0 ? `; ${plural(omitted, 'more task')} left out` : ''}
      </p>
      <VirtualList
        count={rows.length + 1}
        itemHeight={ROW_HEIGHT}
        isMeasured={false}
        keyOf={(at) => (at === 0 ? 'axis' : (rows[at - 1]?.id ?? String(at)))}
        keptIndex={0}
        handle={list}
        container={{ class: 'lanes', role: 'region', 'aria-label': 'Timeline', tabIndex: 0 }}
        renderItem={(at) => {
          const row = rows[at - 1];
          return (
            <div class="lane" style={width}>
              {row === undefined ? (
                <Axis from={from} to={to} zoom={zoom} />
              ) : (
                <Lane row={row} scale={{ from, to }} />
              )}
            </div>
          );
        }}
      />
    </div>
  );
}

function Axis({ from, to, zoom }: TimeScale & { readonly zoom: number }) {
  const length = Math.max(to - from, 1);
  return (
    <>
      <span class="lane-name soft">Time</span>
      <div class="axis" aria-hidden="true">
        {axisMarks(length, 5 * zoom).map((ms) => (
          <span key={ms} style={{ insetInlineStart: `${(ms * 100) / length}%` }}>
            {ms === 0 ? '0' : formatDuration(ms)}
          </span>
        ))}
      </div>
    </>
  );
}

function Lane({ row, scale }: { readonly row: TimelineRow; readonly scale: TimeScale }) {
  const { go } = usePage();
  const sums = Array.from(
    sumSpans(row.spans),
    ([kind, ms]) => `${SPAN_NAMES[kind]} ${formatDuration(ms)}`,
  ).join(', ');
  return (
    <>
      <button
        type="button"
        class="lane-name"
        title={`${row.agent}: ${row.title}`}
        onClick={() => go({ view: 'tasks', task: row.id, tab: 'timeline' })}
        style={{ paddingInlineStart: `${6 + Math.min(row.level, 6) * 10}px` }}
      >
        <StatusIcon look={findStatusLook({ status: row.status, questions: [] })} />
        <span class="lane-title">{row.title === '' ? row.agent : row.title}</span>
      </button>
      <svg
        class="spans"
        viewBox={`0 0 ${LANE_UNITS} ${LANE_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sums === '' ? 'nothing yet' : sums}
      >
        <title>{sums}</title>
        {drawLane(row.spans, scale).map(({ kind, path }) => (
          <path key={kind} class={kind} d={path} />
        ))}
      </svg>
    </>
  );
}
