import { afterAll, describe, it } from 'vitest';
import { CASES } from './cases/all.ts';
import { check } from './check.ts';
import { play } from './play.ts';
import { removeCompiled } from './program.ts';

const STARTED = CASES.filter(({ program }) => program !== undefined);

afterAll(removeCompiled);

describe.each([...Map.groupBy(STARTED, (each) => each.class)])('the program: %s', (_, cases) => {
  it.each(cases)('$name', async (each) => {
    await play(each, (outcome) => check(outcome, each.expect));
  });
});
