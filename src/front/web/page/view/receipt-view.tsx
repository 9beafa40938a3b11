import { formatShortDuration } from '../../../../report/figures.ts';
import { formatCount, formatUsd } from '../../../../report/cost-text.ts';
import type { Receipt } from '../../../../protocol/result.ts';
import { LoadState } from './load-state.tsx';
import { useLoaded, usePage } from './page-context.ts';

/** The receipt and the answer of a task: what it did, as Muster has recorded it. */
export function ReceiptView({ id, progress }: { readonly id: string; readonly progress: string }) {
  const { store } = usePage();
  const loaded = useLoaded(id, progress, () => store.source.report(id));
  if (loaded.kind !== 'loaded') return <LoadState state={loaded} />;
  const { envelope } = loaded.data;
  const { data, stats, error } = envelope;
  const { usage, receipt } = data;
  return (
    <div class="receipt">
      <dl class="figures">
        <Figure name="Ended because" value={receipt.endedBecause} />
        <Figure name="Took" value={formatShortDuration(stats.time_ms)} />
        <Figure name="Calls" value={formatCount(stats.tool_calls)} />
        <Figure name="Input" value={formatCount(usage.input + usage.cache_write)} />
        <Figure name="From the cache" value={formatCount(usage.cache_read)} />
        <Figure name="Output" value={formatCount(usage.output)} />
        <Figure name="Cost" value={data.cost_usd === null ? '?' : formatUsd(data.cost_usd)} />
      </dl>
      {error !== null && (
        <p class="note bad">
          {error.code}: {error.message}
        </p>
      )}
      {listRows(receipt).map(({ name, items }) => (
        <section key={name}>
          <h2>
            {name} <span class="count">{items.length}</span>
          </h2>
          {items.length === 0 ? (
            <p class="soft">None.</p>
          ) : (
            <ul class="mono">
              {items.slice(0, MAX_ITEMS).map((item, index) => (
                <li key={index}>{item}</li>
              ))}
              {items.length > MAX_ITEMS && <li>… {items.length - MAX_ITEMS} more</li>}
            </ul>
          )}
        </section>
      ))}
      {data.result !== '' && (
        <section>
          <h2>Answer</h2>
          <p class="text">{data.result.slice(0, MAX_ANSWER)}</p>
          {data.result.length > MAX_ANSWER && <p class="soft">The transcript has the rest.</p>}
        </section>
      )}
    </div>
  );
}

/** The maximum number of items of a row, and the maximum length of the answer in UTF-16 units. */
const MAX_ITEMS = 200;
const MAX_ANSWER = 16_000;

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function listRows(receipt: Receipt): readonly { name: string; items: readonly string[] }[] {
  const { filesChanged, unlistedChanges = [], commands, shells, refusals, claims } = receipt;
  return [
    {
      name: 'Files changed',
      items: [
        ...filesChanged.map(
          ({ path, before, after }) =>
            `${before === null ? 'added' : after === null ? 'deleted' : 'changed'}  ${path}`,
        ),
        ...unlistedChanges.map(({ path, reason }) => `not listed (${reason})  ${path}`),
      ],
    },
    {
      name: 'Commands',
      items: commands.map(
        ({ command, exitCode }) =>
          `${exitCode === null ? 'signal' : `exit ${exitCode}`}  ${command}`,
      ),
    },
    {
      name: 'Shells',
      items: shells.map(({ id, command, end }) => `${id}  ${end ?? 'running'}  ${command}`),
    },
    { name: 'Children', items: receipt.children },
    { name: 'Refused calls', items: refusals },
    {
      name: 'Faults of the model',
      items: receipt.faults.map(({ fault, count }) => `${fault} × ${count}`),
    },
    {
      name: 'Flags of the answer',
      items: claims.map(({ claim, why }) => (claim === '' ? why : `${claim}: ${why}`)),
    },
    { name: 'Files read', items: receipt.filesRead.map(({ path }) => path) },
  ];
}
