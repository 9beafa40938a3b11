import { describe, it } from 'vitest';
import { CASES } from './cases/all.ts';
import { check } from './check.ts';
import { play } from './play.ts';

const PLAYED = CASES.filter(({ program }) => program === undefined);

describe.each([...Map.groupBy(PLAYED, (each) => each.class)])('%s', (_, cases) => {
  it.each(cases)('$name', async (each) => {
    await play(each, (outcome) => check(outcome, each.expect));
  });
});
