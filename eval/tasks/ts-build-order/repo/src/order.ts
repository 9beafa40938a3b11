export type Targets = Readonly<Record<string, readonly string[]>>;

export function buildOrder(targets: Targets): string[][] {
  const depth = (name: string, seen: string[]): number => {
    if (seen.includes(name)) throw new Error('cycle');
    return Math.max(0, ...targets[name].map((need) => 1 + depth(need, [...seen, name])));
  };
  const batches: string[][] = [];
  for (const name of Object.keys(targets)) (batches[depth(name, [])] ??= []).push(name);
  return batches;
}
