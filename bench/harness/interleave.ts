/**
 * Runs each side once per round and gives back the results by side. The order turns by one each
 * round, so that whatever else the machine does meets all sides alike. A first round warms up what
 * the sides share (files in the page cache, compiled code on disk) and is thrown away.
 */
export async function interleave<Side extends string, Result>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<Result>>>,
): Promise<Readonly<Record<Side, readonly Result[]>>> {
  const names = keysOf(sides);
  const results = mapRecord(names, (): Result[] => []);
  for (const name of names) await sides[name]();
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % names.length;
    for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
      results[name].push(await sides[name]());
    }
  }
  return results;
}

function keysOf<Key extends string>(record: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(record).filter((key): key is Key => Object.hasOwn(record, key));
}

/** `Object.fromEntries` forgets which keys it was given. */
function mapRecord<Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, Value>;
}
