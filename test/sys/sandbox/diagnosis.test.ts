import { describe, expect, test } from 'vitest';
import {
  diagnoseBubblewrapFailure,
  diagnoseMissingBubblewrap,
  isContainer,
  addContainerHint,
} from '../../../src/sys/sandbox/diagnosis.ts';
import { parseSocketTable } from '../../../src/sys/sandbox/access-rules.ts';
import { parseMonitorReport } from '../../../src/sys/sandbox/monitor-script.ts';
import { openSandbox } from '../../../src/sys/sandbox/open-sandbox.ts';

const FACTS = {
  apparmorRestricts: undefined,
  userNamespacesAllowed: undefined,
  mostUserNamespaces: '63000\n',
  osRelease: undefined,
  inContainer: false,
};
const DENIED = 'bwrap: Creating new namespace failed: Operation not permitted';

test.each([
  ['ID=ubuntu\nID_LIKE=debian\n', 'apt install bubblewrap'],
  ['NAME="x"\nID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf install bubblewrap'],
  ['ID=arch\n', 'pacman -S bubblewrap'],
  ['ID="opensuse-leap"\n', 'zypper install bubblewrap'],
  ['ID=alpine\n', 'apk add bubblewrap'],
  ['ID=mine\n', expect.stringContaining('apt')],
  [undefined, expect.stringContaining('bubblewrap')],
])('the installation advice for %j', (osRelease, hint) => {
  expect(diagnoseMissingBubblewrap({ ...FACTS, osRelease })).toEqual({
    because: 'bubblewrap (bwrap) is not installed',
    hint,
  });
});

describe('the reason why the sandbox does not work', () => {
  test.each([
    [
      DENIED,
      { apparmorRestricts: '1\n' },
      /^user namespaces are not allowed here/,
      /apparmor_restrict/,
    ],
    [DENIED, { userNamespacesAllowed: '0\n' }, /^user namespaces/, /unprivileged_userns_clone=1/],
    [DENIED, { mostUserNamespaces: '0\n' }, /^user namespaces/, /user\.max_user_namespaces/],
    [DENIED, { inContainer: true }, /^user namespaces/, /seccomp=unconfined/],
    ['bwrap: setting up uid map: Permission denied', {}, /uid map/, /another sandbox/],
    [
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      { inContainer: true },
      /hides parts of \/proc/,
      /systempaths=unconfined/,
    ],
    [
      'bwrap: Unknown option --perms',
      {},
      /does not work here \(bwrap: Unknown/,
      /bwrap --unshare-all/,
    ],
    ['', {}, /without an error message/, /bwrap/],
  ])('%j %j', (said, facts, because, hint) => {
    const found = diagnoseBubblewrapFailure(said, { ...FACTS, ...facts });
    expect(found).toEqual({
      because: expect.stringMatching(because),
      hint: expect.stringMatching(hint),
    });
    expect(found.because + found.hint).not.toContain('\n');
  });
});

test.each([
  ['begun\nleft 2\n', { hasStarted: true, remaining: 2, problem: '' }],
  ['begun\n', { hasStarted: true, remaining: 0, problem: '' }],
  ['begun\nleft 99999999999\n', { hasStarted: true, remaining: 0, problem: '' }],
  ['bwrap: no\nmore\n', { hasStarted: false, remaining: 0, problem: 'bwrap: no' }],
  ['left 3\n', { hasStarted: false, remaining: 0, problem: 'left 3' }],
  ['', { hasStarted: false, remaining: 0, problem: '' }],
])('the report %j', (stderr, report) => {
  expect(parseMonitorReport(stderr)).toEqual({ ...report, processes: [] });
});

test('sockets with a path are read from the table of the kernel', () => {
  const table = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000000: 00000002 00000000 00010000 0001 01 23 /run/a b.sock',
    '0000000000000000: 00000002 00000000 00010000 0001 01 24 @/abstract',
    '0000000000000000: 00000003 00000000 00000000 0001 03 25',
    '0000000000000000: 00000002 00000000 00010000 0001 01 26 relative.sock',
  ].join('\n');
  expect(parseSocketTable(table)).toEqual(['/run/a b.sock']);
});

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
