import { formatDuration } from '../../../../base/text.ts';
import { formatCost, formatCount, formatUsd } from '../../../../report/cost-text.ts';
import { formatShortCount } from '../../../../report/figures.ts';
import { axisMarks } from '../model/time-scale.ts';
import { drawSteps, sumByModel, sumOverTime, type UsageStep } from '../model/usage-series.ts';
import { LoadState } from './load-state.tsx';
import { useLoaded, usePage } from './page-context.ts';

const BOX = { width: 640, height: 150 };

/** The tokens and the cost of a task and all tasks below it, over time and by model. */
export function UsageView({ id, progress }: { readonly id: string; readonly progress: string }) {
  const { store } = usePage();
  const loaded = useLoaded(id, progress, () => store.source.usage(id));
  if (loaded.kind !== 'loaded') return <LoadState state={loaded} />;
  const { from, to, points, reported, estimated, omitted } = loaded.data;
  const steps = sumOverTime(points);
  return (
    <div class="usage">
      <p class="soft">
        This task and all tasks below it. Reported cost: {formatCost(reported)}
        {estimated.answers > 0 ? `; estimated in addition: ${formatCost(estimated)}` : ''}
        {omitted > 0 ? `; ${omitted} tasks are left out` : ''}.
      </p>
      <div class="charts">
        <StepChart
          title="Tokens"
          steps={steps}
          scale={{ from, to }}
          lines={[
            { name: 'Input', look: 'input', value: (step) => step.input },
            { name: 'Output', look: 'output', value: (step) => step.output },
          ]}
          format={formatShortCount}
        />
        <StepChart
          title="Cost"
          steps={steps}
          scale={{ from, to }}
          lines={[{ name: 'Cost', look: 'cost', value: (step) => step.costUsd }]}
          format={formatUsd}
        />
      </div>
      <div class="table-frame" tabIndex={0} role="region" aria-label="Usage by model">
        <table>
          <caption>By model</caption>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Turns</th>
              <th scope="col">Input</th>
              <th scope="col">From the cache</th>
              <th scope="col">Output</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {sumByModel(points).map((sum) => (
              <tr key={sum.model}>
                <th scope="row" class="mono">
                  {sum.model}
                </th>
                <td>{formatCount(sum.turns)}</td>
                <td>{formatCount(sum.input)}</td>
                <td>{formatCount(sum.cached)}</td>
                <td>{formatCount(sum.output)}</td>
                <td>
                  {sum.isUnpriced ? '≥' : ''}
                  {formatUsd(sum.costUsd)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface StepChartProps {
  readonly title: string;
  readonly steps: readonly UsageStep[];
  readonly scale: { readonly from: number; readonly to: number };
  readonly lines: readonly {
    readonly name: string;
    readonly look: string;
    readonly value: (step: UsageStep) => number;
  }[];
  readonly format: (amount: number) => string;
}

function StepChart({ title, steps, scale, lines, format }: StepChartProps) {
  const last = steps.at(-1);
  const max = Math.max(...lines.map(({ value }) => (last === undefined ? 0 : value(last))), 0);
  const marks = axisMarks(max, 3);
  const top = Math.max(max, marks.at(-1) ?? 0);
  const totals = lines.map(({ name, value }) => ({
    name,
    text: format(last === undefined ? 0 : value(last)),
  }));
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        {totals.map(({ name, text }, index) => (
          <span key={name} class={`key ${lines[index]?.look ?? ''}`}>
            {name} {text}
          </span>
        ))}
      </figcaption>
      <div class="plot">
        <svg
          viewBox={`0 -4 ${BOX.width} ${BOX.height + 8}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title} over time. In the end: ${totals.map(({ name, text }) => `${name} ${text}`).join(', ')}.`}
        >
          {marks.map((mark) => (
            <path
              key={mark}
              class="grid"
              d={`M0 ${BOX.height * (1 - mark / Math.max(top, Number.MIN_VALUE))}H${BOX.width}`}
            />
          ))}
          {lines.map(({ name, look, value }) => (
            <path
              key={name}
              class={`step ${look}`}
              d={drawSteps(steps, value, { ...scale, max: top }, BOX)}
            />
          ))}
        </svg>
        <div class="marks" aria-hidden="true">
          {marks.slice(1).map((mark) => (
            <span
              key={mark}
              style={{ insetBlockEnd: `${(100 * mark) / Math.max(top, Number.MIN_VALUE)}%` }}
            >
              {format(mark)}
            </span>
          ))}
        </div>
      </div>
      <p class="soft span-line">
        <span>start</span>
        <span>{formatDuration(Math.max(scale.to - scale.from, 0))}</span>
      </p>
    </figure>
  );
}
