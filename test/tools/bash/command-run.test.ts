import { expect, it } from 'vitest';
import type { SandboxPort } from '../../../src/protocol/tool.ts';
import { makeWorkspace } from '../workspace.ts';

/** A sandbox that can't be made the first times: what it was to hide has gone. */
function failingSandbox(failures: number) {
  const made = { tried: 0, released: 0 };
  const port: SandboxPort = {
    confine: async (argv) => {
      made.tried += 1;
      const fails = made.tried <= failures;
      const script = fails ? "echo 'bwrap: gone' >&2; exit 1" : 'echo begun >&2; "$@"';
      return {
        file: '/bin/sh',
        args: ['-c', script, 'sh', ...argv],
        env: { PATH: '/usr/bin:/bin' },
        held: { access: 'workspace', network: false, monitored: true },
        settle: () => Promise.resolve({ removed: [], fromCommits: [] }),
        release: () => void (made.released += 1),
      };
    },
  };
  return { made, port };
}

it('starts a command again whose sandbox could not be made', async () => {
  const { made, port } = failingSandbox(3);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output.text).toBe('hi\n[exit code 0]');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('says why when it never can', async () => {
  const { made, port } = failingSandbox(99);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output).toMatchObject({ error: 'INTERNAL_ERROR' });
  expect(output.text).toContain('bwrap: gone');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('does not start it again once it is to stop', async () => {
  const { made, port } = failingSandbox(99);
  const controller = new AbortController();
  const sandbox: SandboxPort = {
    confine: async (argv, options) => {
      controller.abort();
      return await port.confine(argv, options);
    },
  };
  const { signal } = controller;
  await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox, signal });
  expect(made).toEqual({ tried: 1, released: 1 });
});
