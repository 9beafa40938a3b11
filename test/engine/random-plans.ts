import * as fc from 'fast-check';
import { calmWork, wildWork } from './random-work.ts';
import type { PersonAct, Plan } from './random-world.ts';

const act: fc.Arbitrary<PersonAct> = fc.record({
  at: fc.nat(60),
  kind: fc.constantFrom('stop', 'interrupt', 'mode', 'send', 'withdraw', 'detach', 'resume'),
  of: fc.nat(9),
});

const rarely = <T>(common: T, rare: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(common) }, { weight: 1, arbitrary: rare });

/** Any plan, with limits and a person who interferes. */
export const wildPlan: fc.Arbitrary<Plan> = fc.record({
  work: wildWork,
  seed: fc.nat(),
  acts: fc.array(act, { maxLength: 3, size: 'max' }),
  settings: fc.record({
    maxParallel: fc.integer({ min: 1, max: 4 }),
    foregroundMs: rarely(300_000, fc.integer({ min: 1, max: 20 })),
    maxTasks: rarely(500, fc.nat(4)),
    treeTokens: rarely(0, fc.integer({ min: 100, max: 1_000 })),
    treeWallMs: rarely<number | null>(null, fc.integer({ min: 1, max: 60 })),
    taskLimits: fc.record({
      maxTurns: fc.constant(null),
      maxTokens: rarely<number | null>(null, fc.integer({ min: 50, max: 500 })),
      wallMs: rarely<number | null>(null, fc.integer({ min: 1, max: 60 })),
      resultMaxTokens: fc.constant(2_000),
    }),
  }),
});

/** Plans in which a person sends messages and soon takes some of them back. */
export const hesitantPlan: fc.Arbitrary<Plan> = fc
  .tuple(
    wildPlan,
    fc.array(fc.record({ at: fc.nat(40), of: fc.nat(3), after: fc.nat(8) }), {
      minLength: 1,
      maxLength: 6,
      size: 'max',
    }),
  )
  .map(([{ work, seed, settings }, messages]) => ({
    work,
    seed,
    settings,
    acts: messages.flatMap(({ at, of, after }): readonly PersonAct[] => [
      { at, kind: 'send', of },
      { at: at + after, kind: 'withdraw', of },
    ]),
  }));

/** The settings of an example: no limit is close, and one task works at a time. */
export const ONE_AT_A_TIME: Plan['settings'] = {
  maxParallel: 1,
  foregroundMs: 300_000,
  maxTasks: 500,
  treeTokens: 0,
  taskLimits: { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 },
};

/** Plans whose result does not depend on timing. */
export const calmPlan: fc.Arbitrary<Plan> = fc.record({
  work: calmWork,
  seed: fc.nat(),
  acts: fc.constant([]),
  settings: fc.record({ maxParallel: fc.integer({ min: 1, max: 4 }) }),
});
