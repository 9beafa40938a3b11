import { expect, it } from 'vitest';
import type { SandboxPort } from '../../../src/protocol/tool.ts';
import { makeWorkspace } from '../workspace.ts';

/** A sandbox that cannot be set up the first times, because a file that it covers is gone. */
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

it('starts a command again when its sandbox could not be set up', async () => {
  const { made, port } = failingSandbox(3);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output.text).toBe('hi\n[exit code 0]');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('gives the reason when the sandbox can never be set up', async () => {
  const { made, port } = failingSandbox(99);
  const output = await makeWorkspace().call('Bash', { command: 'echo hi' }, { sandbox: port });
  expect(output).toMatchObject({ error: 'INTERNAL_ERROR' });
  expect(output.text).toContain('bwrap: gone');
  expect(made).toEqual({ tried: 4, released: 4 });
});

it('does not start a command again after it was cancelled', async () => {
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
