import { fit, wrapped } from './fit.ts';
import type { Pen } from './pen.ts';

/** What was found at the start, and what is missing with the way to get it. */
export interface StartFacts {
  readonly version: string;
  readonly cwd: string;
  readonly model: string;
  readonly sandbox: string;
  readonly agents: string;
  /** A line each. */
  readonly missing: readonly string[];
}

export function startScreen(facts: StartFacts, width: number, pen: Pen): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['directory', facts.cwd],
    ['model', facts.model],
    ['sandbox', facts.sandbox],
    ['agents', facts.agents],
  ];
  return [
    fit(`${pen.prose('strong', 'Muster')} ${pen.prose('dim', facts.version)}`, width),
    '',
    ...rows.flatMap(([name, value]) => factLines(name, value, width, pen)),
    ...(facts.missing.length === 0 ? [] : ['']),
    ...facts.missing.flatMap((line) => {
      const [first = '', ...rest] = wrapped(pen.exact('warn', line), width - 2, '');
      return [`${pen.paint('warn', '!')} ${first}`, ...rest.map((each) => `  ${each}`)];
    }),
    '',
    ...wrapped(
      pen.prose('dim', 'Type what you want done. /help lists commands and keys.'),
      width,
      '',
    ),
  ];
}

const NAME_WIDTH = 11;

function factLines(name: string, value: string, width: number, pen: Pen): readonly string[] {
  const label = pen.prose('dim', name.padEnd(NAME_WIDTH));
  const lines = wrapped(pen.exact('text', value), width - NAME_WIDTH, '');
  return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(NAME_WIDTH)}${line}`);
}
