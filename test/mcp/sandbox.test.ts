import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServerProgram } from '../../src/mcp/server-process.ts';
import { findMarked, waitForMarked } from '../e2e/processes.ts';
import { HAS_BUBBLEWRAP, Place } from '../sys/sandbox/support.ts';
import { createHost, FAULTY, firstText, FOREVER, readEntry } from './support.ts';

test.runIf(HAS_BUBBLEWRAP)('a server runs in the sandbox, and nothing is left of it', async () => {
  const place = new Place();
  const node = place.node();
  copyFileSync(FAULTY, join(place.root, 'faulty.mjs'));
  const sandbox = place.sandbox();
  expect(await sandbox.state()).toMatchObject({ on: true });
  const host = createHost({
    startProcess: async ({ argv, cwd, env }) => {
      const confinement = { access: 'workspace', roots: [place.root], network: true } as const;
      const confined = sandbox.confine({ argv, cwd, env, confinement, stderr: 'command' });
      const process = startServerProgram({ ...confined, cwd });
      const cleanUp = async (): Promise<void> => {
        await process.ended;
        await confined.settle();
        confined.release();
      };
      void cleanUp();
      return process;
    },
  });
  const { mark } = host;
  const [name = '', value = ''] = mark.split('=');
  const server = host.open(
    readEntry({
      command: node,
      args: ['faulty.mjs'],
      cwd: place.root,
      env: { [name]: value, FAULT: 'forks' },
    }),
  );
  const result = await server.callTool('x', {}, { signal: FOREVER });
  expect(firstText(result)).toBe('called x');
  expect(findMarked(mark).length).toBeGreaterThanOrEqual(3);
  // The sandbox ends with the connection, and with it whatever the server has started.
  await host.connections.close();
  await waitForMarked(mark, (pids) => pids.length === 0);
});
