import { expect, test } from 'vitest';
import { LoggedCalls } from '../../src/replay/logged-ports.ts';
import { NO_ACCESS } from '../../src/protocol/permission.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { readTool } from '../../src/tools/read/read.ts';

const started = (input: Readonly<Record<string, string>>): TaskEvent => ({
  v: 2,
  seq: 1,
  ts: 0,
  task: 'aaaaaaaaaaaa',
  epoch: 1,
  type: 'call.started',
  callId: 'call',
  tool: 'Read',
  input,
});

test('a call that ran in an earlier version is read again, even if its arguments are refused now', () => {
  const odd = { path: 'a', colour: 'red' };
  const tool = new LoggedCalls([started(odd)]).asTool(readTool);
  expect(tool.parse({ ...odd })).toEqual({ ok: true, input: odd });
  const parsed = tool.parse(odd);
  expect(parsed.ok && tool.describe?.(parsed.input, { cwd: '/w' })).toEqual(NO_ACCESS);
  expect(tool.parse({ path: 'b', colour: 'red' })).toMatchObject({ ok: false });
});

test('changed arguments are not reported again, since the logged outcome reports them', () => {
  const tool = new LoggedCalls([]).asTool(readTool);
  const parsed = tool.parse({ path: 'a', offset: 0 });
  expect(parsed).toEqual({ ok: true, input: { file_path: 'a', offset: 1 } });
  expect(parsed.ok && tool.describe?.(parsed.input, { cwd: '/w' })).toMatchObject({
    reads: ['/w/a'],
  });
});
