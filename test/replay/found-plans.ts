import type { Death } from '../engine/killable-store.ts';
import { ONE_AT_A_TIME } from '../engine/random-plans.ts';
import type { Plan } from '../engine/random-world.ts';

/** Plans and deaths that random runs found, and whose reruns once differed from their logs. */
export const FOUND_PLANS: [Plan, Death[]][] = [
  // A task is stopped while it waits for a retry, and killed before its log records that.
  [
    {
      work: { turns: [], end: 'flaky', maxTurns: null },
      seed: 0,
      acts: [{ at: 0, kind: 'stop', of: 0 }],
      settings: ONE_AT_A_TIME,
    },
    [{ batch: 7, several: false, kept: 0 }],
  ],
  // A task is interrupted while it waits for a retry, and then stopped.
  [
    {
      work: {
        turns: [
          [{ kind: 'spawn', background: true, work: { turns: [], end: 'text', maxTurns: null } }],
        ],
        end: 'flaky',
        maxTurns: null,
      },
      seed: 0,
      acts: [
        { at: 5, kind: 'stop', of: 0 },
        { at: 4, kind: 'interrupt', of: 0 },
      ],
      settings: { ...ONE_AT_A_TIME, maxParallel: 2 },
    },
    [],
  ],
  // A task is stopped in the middle of a call, and killed before its log records its end.
  [
    {
      work: {
        turns: [
          [
            { kind: 'output', of: 5, block: true, timeout: 0 },
            {
              kind: 'spawn',
              background: true,
              work: {
                turns: [
                  [
                    {
                      kind: 'spawn',
                      background: false,
                      work: { turns: [], end: 'failure', maxTurns: null },
                    },
                    { kind: 'shell', ms: 1 },
                  ],
                  [
                    {
                      kind: 'resume',
                      background: true,
                      of: 4,
                      work: { turns: [], end: 'flaky', maxTurns: null },
                    },
                  ],
                ],
                end: 'text',
                maxTurns: null,
              },
            },
            {
              kind: 'spawn',
              background: false,
              work: {
                turns: [
                  [
                    { kind: 'stop', of: 1 },
                    { kind: 'Read', ms: 3 },
                  ],
                  [
                    { kind: 'output', of: 3, block: false, timeout: 0 },
                    { kind: 'Bash', ms: 1 },
                  ],
                ],
                end: 'text',
                maxTurns: null,
              },
            },
          ],
        ],
        end: 'failure',
        maxTurns: null,
      },
      seed: 159234422,
      acts: [],
      settings: ONE_AT_A_TIME,
    },
    [
      { batch: 60, several: false, kept: 2 },
      { batch: 8, several: false, kept: 0 },
      { batch: 37, several: true, kept: 0 },
    ],
  ],
  // A task is killed after it has announced a child, and stopped before the child starts.
  [
    {
      work: {
        turns: [
          [
            {
              kind: 'resume',
              background: true,
              of: 4,
              work: { turns: [], end: 'text', maxTurns: 1 },
            },
            { kind: 'send', of: 3, about: 2 },
            {
              kind: 'resume',
              background: false,
              of: 1,
              work: { turns: [], end: 'text', maxTurns: null },
            },
          ],
          [
            { kind: 'stop', of: 1 },
            {
              kind: 'spawn',
              background: true,
              work: {
                turns: [
                  [
                    {
                      kind: 'spawn',
                      background: true,
                      work: { turns: [], end: 'text', maxTurns: null },
                    },
                  ],
                ],
                end: 'text',
                maxTurns: null,
              },
            },
            {
              kind: 'resume',
              background: false,
              of: 1,
              work: { turns: [], end: 'text', maxTurns: null },
            },
          ],
          [{ kind: 'stop', of: 0 }],
        ],
        end: 'text',
        maxTurns: null,
      },
      seed: 839627218,
      acts: [],
      settings: ONE_AT_A_TIME,
    },
    [
      { batch: 29, several: false, kept: 1 },
      { batch: 50, several: true, kept: 2 },
    ],
  ],
  // A task is interrupted, woken by a child, and stopped in its next turn.
  [
    {
      work: {
        turns: [
          [
            { kind: 'spawn', background: false, work: { turns: [], end: 'text', maxTurns: null } },
            { kind: 'stop', of: 0 },
          ],
          [{ kind: 'spawn', background: true, work: { turns: [], end: 'text', maxTurns: null } }],
        ],
        end: 'flaky',
        maxTurns: null,
      },
      seed: 0,
      acts: [
        { at: 15, kind: 'interrupt', of: 0 },
        { at: 19, kind: 'stop', of: 0 },
      ],
      settings: { ...ONE_AT_A_TIME, foregroundMs: 2 },
    },
    [],
  ],
];
