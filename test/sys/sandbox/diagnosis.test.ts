import { describe, expect, test } from 'vitest';
import {
  diagnoseBubblewrapFailure,
  diagnoseMissingBubblewrap,
} from '../../../src/sys/sandbox/diagnosis.ts';
import { parseSocketTable } from '../../../src/sys/sandbox/access-rules.ts';
import { parseMonitorReport } from '../../../src/sys/sandbox/monitor-script.ts';

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
