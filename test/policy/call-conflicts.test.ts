import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolKind } from '../../src/protocol/tool.ts';
import { doCallsConflict, scheduleCalls } from '../../src/policy/call-conflicts.ts';
import type { ScheduledCall } from '../../src/policy/call-conflicts.ts';

function made(kind: ToolKind, reads: string[] = [], writes: string[] = []): ScheduledCall {
  return { kind, access: { reads, writes } };
}

const readA = made('read', ['/w/a']);
const readDir = made('read', ['/w']);
const editA = made('edit', ['/w/a'], ['/w/a']);
const editB = made('edit', ['/w/b'], ['/w/b']);
const shell = made('execute');
const task = made('delegate');
const todo = made('meta');
const fetch = made('network');

test.each<[string, ScheduledCall, ScheduledCall, boolean]>([
  ['two reads', readA, readA, false],
  ['read and write of one file', readA, editA, true],
  ['read of a directory and write in it', readDir, editA, true],
  ['writes of two files', editA, editB, false],
  ['writes of one file', editA, editA, true],
  ['names that only begin alike', made('edit', [], ['/w/a']), made('read', ['/w/ab']), false],
  ['a write that names no path', made('edit'), readA, true],
  ['a read that names no path', made('read'), editA, true],
  ['a read that writes', made('read', [], ['/w/a']), readA, true],
  ['a command and a read', shell, readA, true],
  ['a command and an edit', shell, editA, true],
  ['two commands', shell, shell, true],
  ['a command and a fetch', shell, fetch, false],
  ['two delegations', task, task, false],
  ['a delegation and a command', task, shell, false],
  ['a note and an edit', todo, editA, false],
])('%s', (_, a, b, expected) => {
  expect([doCallsConflict(a, b), doCallsConflict(b, a)]).toEqual([expected, expected]);
});

test('each call waits for the earlier ones that it conflicts with, and for no others', () => {
  expect(scheduleCalls([readA, task, editA, editB, shell, readA])).toEqual([
    [],
    [],
    [0],
    [],
    [0, 2, 3],
    [2, 4],
  ]);
});

test('no two calls that conflict can run at the same time', () => {
  const some = fc.constantFrom(readA, readDir, editA, editB, shell, task, todo, fetch);
  fc.assert(
    fc.property(fc.array(some, { maxLength: 8 }), (calls) => {
      const waits = scheduleCalls(calls);
      for (const [later, call] of calls.entries()) {
        for (const [earlier, other] of calls.slice(0, later).entries()) {
          expect(waits[later]?.includes(earlier)).toBe(doCallsConflict(call, other));
        }
      }
    }),
  );
});
