import { expect, test } from 'vitest';
import { describeServerHints } from '../../src/mcp/tool-description.ts';

test.each([
  [{ annotations: {} }, ''],
  [
    { title: 'Book', annotations: { title: 'Other', readOnly: true, idempotent: true } },
    'The server says, unchecked: “Book”, read-only, idempotent.',
  ],
  [
    { annotations: { readOnly: false, destructive: false, idempotent: false, openWorld: true } },
    'The server says, unchecked: not read-only, not destructive, not idempotent, reaches other systems.',
  ],
  [
    { annotations: { title: 'a”\n\u001b[2J b', openWorld: false } },
    'The server says, unchecked: “a" b”, reaches no other systems.',
  ],
  [{ title: 'x'.repeat(500), annotations: {} }, `The server says, unchecked: “${'x'.repeat(80)}”.`],
])('the hints %j are described', (tool, text) => {
  expect(describeServerHints(tool)).toBe(text);
});
