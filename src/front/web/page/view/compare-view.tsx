import { formatDuration } from '../../../../base/text.ts';
import { formatCost, formatCount } from '../../../../report/cost-text.ts';
import { formatShortDuration } from '../../../../report/figures.ts';
import type { ComparedTask, ComparedTree, CompareReply } from '../../wire.ts';
import { findStatusLook } from '../model/status-texts.ts';
import { StatusIcon } from './icons.tsx';
import { LoadState } from './load-state.tsx';
import { useLoaded, usePage } from './page-context.ts';

/** The maximum number of runs in a list to choose from, and of pairs that are shown. */
const MAX_CHOICES = 200;
const MAX_PAIRS = 100;

interface CompareViewProps {
  readonly left: string | null;
  readonly right: string | null;
}

/** Two runs side by side: their totals, their tasks, their files and their answers. */
export function CompareView({ left, right }: CompareViewProps) {
  const { go } = usePage();
  return (
    <div class="compare">
      <h1 tabIndex={-1}>Compare two runs</h1>
      <div class="choices">
        <RunChoice
          name="Left"
          chosen={left}
          onChoice={(id) => go({ view: 'compare', left: id, right })}
        />
        <RunChoice
          name="Right"
          chosen={right}
          onChoice={(id) => go({ view: 'compare', left, right: id })}
        />
      </div>
      {left === null || right === null ? (
        <p class="empty">Choose two runs. In the tree, the key x marks a task to compare.</p>
      ) : (
        <Comparison left={left} right={right} />
      )}
    </div>
  );
}

interface RunChoiceProps {
  readonly name: string;
  readonly chosen: string | null;
  readonly onChoice: (id: string) => void;
}

function RunChoice({ name, chosen, onChoice }: RunChoiceProps) {
  const { store } = usePage();
  const roots = [...store.tasks.values()]
    .filter(({ parent, id }) => parent === null || id === chosen)
    .toSorted((a, b) => b.created - a.created);
  const offered = roots.filter(({ id }, index) => index < MAX_CHOICES || id === chosen);
  return (
    <label>
      {name}
      <select value={chosen ?? ''} onChange={(event) => onChoice(event.currentTarget.value)}>
        <option value="" disabled>
          Choose a run
        </option>
        {offered.map((row) => (
          <option key={row.id} value={row.id}>
            {row.title} ({row.id}, {row.status})
          </option>
        ))}
      </select>
    </label>
  );
}

function Comparison({ left, right }: { readonly left: string; readonly right: string }) {
  const { store } = usePage();
  const loaded = useLoaded(`${left} ${right}`, '', () => store.source.compare(left, right));
  if (loaded.kind !== 'loaded') return <LoadState state={loaded} />;
  const { data } = loaded;
  return (
    <>
      <Totals data={data} />
      <Pairs data={data} />
      <Files data={data} />
      <div class="sides">
        <Answer name="Answer on the left" tree={data.left} />
        <Answer name="Answer on the right" tree={data.right} />
      </div>
    </>
  );
}

function Totals({ data: { left, right } }: { readonly data: CompareReply }) {
  const rows: readonly (readonly [string, string, string])[] = [
    [
      'Tasks',
      ...both(left, right, ({ rows: { length }, omitted }) => formatCount(length + omitted)),
    ],
    ['Duration', ...both(left, right, ({ from, to }) => formatDuration(to - from))],
    ['Turns', ...both(left, right, ({ rows: all }) => formatCount(sum(all, ({ turns }) => turns)))],
    ['Calls', ...both(left, right, ({ rows: all }) => formatCount(sum(all, ({ calls }) => calls)))],
    [
      'Tokens',
      ...both(left, right, ({ rows: all }) => formatCount(sum(all, (row) => row.paidTokens))),
    ],
    ['Cost', ...both(left, right, ({ reported }) => formatCost(reported))],
    ['Files changed', ...both(left, right, ({ files }) => formatCount(files.length))],
  ];
  return (
    <table class="totals">
      <caption>Totals</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">Left</th>
          <th scope="col">Right</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, a, b]) => (
          <tr key={name} class={a === b ? '' : 'differs'}>
            <th scope="row">{name}</th>
            <td>{a}</td>
            <td>{b}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function both(
  left: ComparedTree,
  right: ComparedTree,
  text: (tree: ComparedTree) => string,
): readonly [string, string] {
  return [text(left), text(right)];
}

function sum(rows: readonly ComparedTask[], value: (row: ComparedTask) => number): number {
  return rows.reduce((total, row) => total + value(row), 0);
}

function Pairs({ data: { left, right, pairs } }: { readonly data: CompareReply }) {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Tasks of both runs">
      <table class="pairs">
        <caption>Tasks</caption>
        <thead>
          <tr>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
          </tr>
        </thead>
        <tbody>
          {pairs.slice(0, MAX_PAIRS).map((pair, index) => (
            <tr key={index}>
              <PairCell row={pair.left === null ? undefined : left.rows[pair.left]} />
              <PairCell row={pair.right === null ? undefined : right.rows[pair.right]} />
            </tr>
          ))}
        </tbody>
      </table>
      {pairs.length > MAX_PAIRS && (
        <p class="note">{pairs.length - MAX_PAIRS} more pairs are left out.</p>
      )}
    </div>
  );
}

function PairCell({ row }: { readonly row: ComparedTask | undefined }) {
  const { go } = usePage();
  if (row === undefined) return <td class="absent">–</td>;
  const { id, agent, title, status, turns, tokens, cost, ms, level } = row;
  return (
    <td style={{ paddingInlineStart: `${10 + Math.min(level, 6) * 14}px` }}>
      <button
        type="button"
        class="link"
        onClick={() => go({ view: 'tasks', task: id, tab: 'transcript' })}
      >
        <StatusIcon look={findStatusLook({ status, questions: [] })} /> {title === '' ? id : title}
      </button>
      <span class="soft">
        {agent} · {status} · {turns} turns · {tokens} tokens · {cost} · {formatShortDuration(ms)}
      </span>
    </td>
  );
}

function Files({ data: { left, right } }: { readonly data: CompareReply }) {
  const [inLeft, inRight] = [new Set(left.files), new Set(right.files)];
  const all = [...new Set([...left.files, ...right.files])].toSorted();
  if (all.length === 0) return null;
  return (
    <section>
      <h2>Files changed</h2>
      <ul class="files mono">
        {all.slice(0, MAX_CHOICES).map((path) => (
          <li key={path}>
            <span class="soft">
              {inLeft.has(path) && inRight.has(path)
                ? 'both'
                : inLeft.has(path)
                  ? 'left only'
                  : 'right only'}
            </span>
            {path}
          </li>
        ))}
        {all.length > MAX_CHOICES && <li>… {all.length - MAX_CHOICES} more</li>}
      </ul>
    </section>
  );
}

function Answer({ name, tree }: { readonly name: string; readonly tree: ComparedTree }) {
  return (
    <section>
      <h2>{name}</h2>
      <p class="text">{tree.result === '' ? 'There is none yet.' : tree.result}</p>
    </section>
  );
}
