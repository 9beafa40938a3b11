/** A place as an answer shows it. */
export interface ShownPlace {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Why it is shown: one sentence. */
  readonly reason: string;
  /** That line; null where it was not read, or is empty. */
  readonly quote: string | null;
}

/** The places of an answer, best first, numbered. */
export function placeLines(places: readonly ShownPlace[]): string {
  return places
    .flatMap(({ path, line, reason, quote }, index) => {
      const said = `${index + 1}. \`${path}:${line}\`: ${reason}`;
      return quote === null ? [said] : [said, `   > ${quote}`];
    })
    .join('\n');
}

/** The places that stand in such an answer, in its order; empty where there are none. */
export function readPlaceLines(text: string): readonly ShownPlace[] {
  const lines = text.split('\n');
  return lines.flatMap((each, index): ShownPlace[] => {
    const [, path, line, reason = ''] = /^\d+\. `(.+):(\d{1,9})`: (.*)$/.exec(each) ?? [];
    if (path === undefined || line === undefined) return [];
    const quote = /^ {3}> (.*)$/.exec(lines[index + 1] ?? '')?.[1] ?? null;
    return [{ path, line: Number(line), reason, quote }];
  });
}
