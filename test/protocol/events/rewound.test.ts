import { expect, test } from 'vitest';
import { liveEventFilter } from '../../../src/protocol/events/rewound.ts';

test.each([
  ['nothing was rewound', [], 5, '0 1 2 3 4 5'],
  ['once', [{ seq: 5, to: 2 }], 6, '0 1 2 5 6'],
  ['one rewind', [{ seq: 5, to: 2 }], 4, '0 1 2 3 4'],
  [
    'a rewind further back',
    [
      { seq: 5, to: 3 },
      { seq: 7, to: 1 },
    ],
    8,
    '0 1 7 8',
  ],
  [
    'a rewind that was undone',
    [
      { seq: 5, to: 2 },
      { seq: 7, to: 4 },
    ],
    8,
    '0 1 2 3 4 7 8',
  ],
  [
    'two rewinds, the second one undone',
    [
      { seq: 5, to: 3 },
      { seq: 7, to: 1 },
      { seq: 9, to: 6 },
    ],
    9,
    '0 1 2 3 5 6 9',
  ],
  [
    'a rewind after the task had continued',
    [
      { seq: 5, to: 2 },
      { seq: 9, to: 6 },
    ],
    10,
    '0 1 2 5 6 9 10',
  ],
])('the events that still count after rewinds: %s', (_, rewinds, at, live) => {
  const isLive = liveEventFilter(rewinds, at);
  expect(
    Array.from({ length: at + 1 }, (_each, seq) => seq)
      .filter(isLive)
      .join(' '),
  ).toBe(live);
});
