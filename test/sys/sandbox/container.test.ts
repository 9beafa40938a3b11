import { describe, expect, test } from 'vitest';
import {
  isContainer,
  addContainerHint,
  diagnoseBubblewrapFailure,
  diagnoseMissingBubblewrap,
} from '../../../src/sys/sandbox/diagnosis.ts';
import { openSandbox } from '../../../src/sys/sandbox/open-sandbox.ts';

const NOTHING = { markers: [], cgroups: '', environment: {} };
const ID = 'a'.repeat(64);

describe('a container is recognized', () => {
  test.each([
    ['not without a sign of one', {}, false],
    ['Docker', { markers: ['/.dockerenv'] }, true],
    ['Podman', { markers: ['/run/.containerenv'] }, true],
    [
      'by the variable of Podman and systemd-nspawn',
      { environment: { container: 'podman' } },
      true,
    ],
    ['not by an empty variable', { environment: { container: '' } }, false],
    ['Kubernetes', { environment: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, true],
    ['by a group of Docker', { cgroups: `12:pids:/docker/${ID}\n0::/` }, true],
    ['by a group of Kubernetes', { cgroups: `0::/kubepods/besteffort/pod1/${ID}` }, true],
    [
      'by a group of containerd',
      { cgroups: `0::/system.slice/containerd.service/cri-containerd-${ID}.scope` },
      true,
    ],
    ['by a group of Podman', { cgroups: `0::/machine.slice/libpod-${ID}.scope` }, true],
    ['by a group of LXC', { cgroups: '0::/lxc.payload/web/init.scope' }, true],
    ['not by a group of its own', { cgroups: '0::/' }, false],
    ['systemd', { cgroups: '0::/init.scope' }, false],
    [
      'not by a session of a user of Docker',
      { cgroups: '0::/user.slice/user-1000.slice/docker-desktop' },
      false,
    ],
  ])('%s', (_, facts, expected) => {
    expect(isContainer({ ...NOTHING, ...facts })).toBe(expected);
  });
});

test('the flag is offered only in a container, next to the remedy', () => {
  const facts = {
    apparmorRestricts: undefined,
    userNamespacesAllowed: undefined,
    mostUserNamespaces: undefined,
    osRelease: 'ID=debian\n',
  };
  const offer = '; or, if this container is itself the sandbox, say so with --sandbox container';
  expect(addContainerHint('do it', false)).toBe('do it');
  expect(diagnoseMissingBubblewrap({ ...facts, inContainer: false }).hint).toBe(
    'apt install bubblewrap',
  );
  expect(diagnoseMissingBubblewrap({ ...facts, inContainer: true }).hint).toBe(
    `apt install bubblewrap${offer}`,
  );
  for (const said of ['bwrap: No permissions to create a new namespace', 'mount proc', 'what']) {
    const { hint } = diagnoseBubblewrapFailure(said, { ...facts, inContainer: false });
    expect(hint).not.toContain('--sandbox');
    expect(diagnoseBubblewrapFailure(said, { ...facts, inContainer: true }).hint).toContain(offer);
  }
});

test.each(['linux', 'darwin', 'win32'] as const)(
  'on %s the machine may be the sandbox, too',
  async (platform) => {
    const hostPaths = { homes: [], stateDirectories: [], runtimeDirectories: [], sockets: [] };
    const settings = { platform, path: '', roots: [], hostPaths, records: null };
    const sandbox = openSandbox({ ...settings, kind: 'container' });
    expect(await sandbox.state()).toEqual({
      on: false,
      instead: 'container',
      because: 'sandbox.kind is "container": the machine itself is the sandbox',
      hint: 'set sandbox.kind = "auto"',
    });
  },
);
