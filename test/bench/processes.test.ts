import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  CAN_MEASURE_CPU_TIME,
  cpuTimeOfEndedChildren,
  cpuTimeOfTree,
  parseProcessStat,
} from '../../bench/harness/processes.ts';

const REST = '0 20 0 11 0 1141542 3133440 362 18446744073709551615';

test.each([
  [`4258 (cat) R 4247 4247 31451 0 -1 4194304 99 0 0 0 7 5 200 30 ${REST}`, 4258, 4247, 120, 2300],
  [`9 (a) R 1 (b)) S 3 9 9 0 -1 0 0 0 0 0 1 2 3 4 ${REST}`, 9, 3, 30, 70],
])('the statistics of a process: %s', (text, pid, parent, ownMs, endedChildrenMs) => {
  expect(parseProcessStat(text)).toEqual({ pid, parent, ownMs, endedChildrenMs });
});

test('a process that has ended has no statistics', () => {
  expect(parseProcessStat('')).toBeNull();
});

test.runIf(CAN_MEASURE_CPU_TIME)('the CPU time of an ended child counts', () => {
  const before = cpuTimeOfTree(process.pid);
  const endedBefore = cpuTimeOfEndedChildren();
  const busy = 'const end = Date.now() + 300; while (Date.now() < end);';
  const { status } = spawnSync(process.execPath, ['-e', `${busy} process.stdout.write('done')`]);
  expect(status).toBe(0);
  expect(cpuTimeOfTree(process.pid)).toBeGreaterThan(before);
  expect(cpuTimeOfEndedChildren()).toBeGreaterThan(endedBefore);
});

test.runIf(CAN_MEASURE_CPU_TIME)('a process that has ended is an error', () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  expect(() => cpuTimeOfTree(pid)).toThrow(`the process ${pid} has ended`);
});
