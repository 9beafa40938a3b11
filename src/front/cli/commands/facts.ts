/** A name and its value, on one line. */
export type Fact = readonly [name: string, value: string];

/** One line each, the values below one another; a name that stands again is left out. */
export function factLines(facts: readonly Fact[]): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  return facts
    .map(([name, value], index) => {
      const shown = facts[index - 1]?.[0] === name ? '' : name;
      return `${shown.padEnd(width)}${value}\n`;
    })
    .join('');
}
