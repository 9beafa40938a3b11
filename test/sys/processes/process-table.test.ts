import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { findProcessesByVariable } from '../../../src/sys/processes/process-table.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

it.runIf(process.platform === 'linux')(
  'finds processes by a variable, and their descendants that have cleared it',
  async () => {
    const value = `test-${process.pid}`;
    const child = spawn('/bin/sh', ['-c', '/usr/bin/env -i /bin/sleep 100; true'], {
      env: { MUSTER_TEST_MARK: value },
      stdio: 'ignore',
      detached: true,
    });
    const { pid } = child;
    if (pid === undefined) throw new Error('sh could not start');
    try {
      await waitUntilPasses(() => {
        const found = findProcessesByVariable('MUSTER_TEST_MARK', 0).get(value) ?? [];
        expect(found).toContain(pid);
        expect(found).toHaveLength(2);
      });
      expect(findProcessesByVariable('MUSTER_TEST_MARK', Infinity).size).toBe(0);
    } finally {
      process.kill(-pid, 'SIGKILL');
    }
    await once(child, 'exit');
    expect(findProcessesByVariable('MUSTER_TEST_MARK', 0).get(value)).toBeUndefined();
  },
);
