/** One of the things that are measured alternately. A null side is left out. */
type Side<Result> = (() => Promise<Result>) | null;

/**
 * Runs each side once per round and returns the results of each side in the order of the rounds. The order
 * of the sides rotates from round to round, so that other load on the machine affects all of them alike. Unless
 * `hasWarmUp` is false, a first round fills what the sides share (the page cache, compiled code on disk) and
 * is not counted.
 */
export async function interleave<Name extends string, Result>(
  rounds: number,
  sides: Readonly<Record<Name, Side<Result>>>,
  { hasWarmUp = true }: { readonly hasWarmUp?: boolean } = {},
): Promise<Readonly<Record<Name, readonly Result[]>>> {
  const names = keysOf(sides);
  const results = mapRecord(names, (): Result[] => []);
  const runs = names.flatMap((name) => {
    const run = sides[name];
    return run === null ? [] : [{ run, collected: results[name] }];
  });
  if (hasWarmUp) for (const { run } of runs) await run();
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % runs.length;
    for (const { run, collected } of [...runs.slice(shift), ...runs.slice(0, shift)]) {
      collected.push(await run());
    }
  }
  return results;
}

/** A side that measures the baseline build, or null when there is no such build. */
export function baselineSide<Result>(
  baselineBin: string | null,
  run: (bin: string) => Promise<Result>,
): Side<Result> {
  return baselineBin === null ? null : () => run(baselineBin);
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(record).filter((key): key is Key => Object.hasOwn(record, key));
}

/** Like `Object.fromEntries`, but keeps the type of the keys. */
function mapRecord<Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, Value>;
}
