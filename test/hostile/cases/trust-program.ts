import { bash, ofClass, read, task, write } from '../calls.ts';
import type { ProgramRun } from '../case.ts';

const ESC = '\u001b';
// oxlint-disable-next-line no-control-regex -- it is what must not come out
const CONTROLS = /[\u001b\u0007\u202e]/;
const AGENT = '---\nname: helper\ndescription: HOSTILE-AGENT\ntools: Read\n---\nHelp.\n';
const ALLOWS = JSON.stringify({ permissions: { allow: ['Bash(touch b.txt)', 'Write(b.txt)'] } });
const GO: ProgramRun = { args: ['-p', 'go'] };
const ADD: ProgramRun = { args: ['trust', 'add', '--yes'] };
const tries = { main: [{ calls: [bash('touch b.txt'), write('b.txt', 'b\n')] }] };

export const TRUST_PROGRAM_CASES = ofClass('trust', [
  {
    name: 'a file that was trusted acts no more once it has changed (CVE-2025-54136 MCPoison)',
    files: { 'ws/.claude/settings.json': '{"permissions": {"allow": ["Read"]}}' },
    model: tries,
    program: [
      ADD,
      { ...GO, before: [{ put: 'ws/.claude/settings.json', entry: ALLOWS }], says: [/trust/] },
    ],
    expect: { changes: { 'ws/.claude/settings.json': ALLOWS } },
  },
  {
    name: 'nor does one that was put in its place by a link, a rename or another name for it',
    files: {
      'ws/.claude/settings.json': '{"permissions": {"allow": ["Read"]}}',
      'ws/evil.json': ALLOWS,
    },
    model: tries,
    program: [
      ADD,
      { ...GO, before: [{ put: 'ws/.claude/settings.json', entry: { link: '../evil.json' } }] },
      { ...GO, before: [{ rename: ['ws/evil.json', 'ws/.claude/settings.json'] }] },
    ],
    expect: { changes: { 'ws/.claude/settings.json': ALLOWS, 'ws/evil.json': null } },
  },
  {
    name: 'the same bytes at another path are not trusted',
    files: { 'ws/.claude/agents/helper.md': AGENT },
    model: { main: [{ calls: [read('a.txt')] }] },
    program: [
      ADD,
      {
        ...GO,
        before: [{ rename: ['ws/.claude/agents/helper.md', 'ws/.claude/agents/other.md'] }],
      },
    ],
    expect: {
      neverSent: ['HOSTILE-AGENT'],
      changes: { 'ws/.claude/agents/helper.md': null, 'ws/.claude/agents/other.md': AGENT },
    },
  },
  {
    name: 'what is trusted in one project is not in another',
    files: {
      'ws/.git/HEAD': '',
      'ws/.claude/settings.json': '{}',
      'ws2/.git/HEAD': '',
      'ws2/.claude/settings.json': ALLOWS,
    },
    model: tries,
    program: [ADD, { args: ['-p', 'go', '--cwd', '@root@/ws2'] }],
    expect: {},
  },
  {
    name: 'nobody there to confirm is a no',
    files: { 'ws/.claude/settings.json': ALLOWS },
    model: tries,
    program: [{ args: ['trust', 'add'], stdin: 'y\ny\n', exit: [1, 2] }, GO],
    expect: {},
  },
  {
    name: 'approvals that the project brings along do not count',
    files: {
      'ws/.claude/settings.json': ALLOWS,
      'ws/state/answers.json':
        '{"version":1,"answers":[{"rule":"Bash","project":null,"answeredOn":"x"}]}',
    },
    model: tries,
    program: [{ args: ['-p', 'go', '--data-dir', '@ws@/state'], exit: [0, 2] }],
    expect: { changesBelow: ['ws/state'] },
  },
  {
    name: 'what is shown for approval is shown whole and escaped',
    files: {
      'ws/.claude/settings.json': JSON.stringify({
        permissions: { allow: [`Bash(ls${ESC}[2K ${' '.repeat(200)}; rm \u202e x)`] },
      }),
      [`ws/.claude/agents/n${ESC}[2J\u202e.md`]: `---\nname: "x${ESC}]0;t\u0007"\ndescription: "\u202e"\n---\nx\n`,
    },
    program: [
      { args: ['trust', 'list'], omits: [CONTROLS] },
      {
        args: ['trust', 'add', '--yes'],
        exit: [0, 1, 2],
        says: [/rm/],
        omits: [CONTROLS],
      },
    ],
    expect: {},
  },
  {
    name: 'files that are no files: pipes, devices, links out, gigabytes',
    files: {
      'ws/.claude/settings.json': { fifo: true },
      'ws/.claude/settings.local.json': { link: '@out@/secret.txt' },
      'ws/.claude/agents/dev.md': { link: '/dev/zero' },
      'ws/.claude/agents/big.md': { size: 5_000_000_000 },
      'ws/.muster/config.toml': { directory: true },
    },
    program: [
      { args: ['trust', 'list'] },
      { ...ADD, exit: [0, 1, 2] },
      { ...GO, exit: [0, 2] },
      { args: ['-p', 'go', '--trust-project'], exit: [0, 2] },
    ],
    expect: {},
  },
  {
    name: 'a trusted rule and agent act until they are revoked (control)',
    control: true,
    files: {
      'ws/.claude/settings.json': JSON.stringify({ permissions: { allow: ['Write(b.txt)'] } }),
      'ws/.claude/agents/helper.md': AGENT,
    },
    model: {
      main: [
        { calls: [write('b.txt', 'b\n'), task('child', 'helper')] },
        { answer: { text: 'one' } },
        { calls: [write('b.txt', 'c\n'), task('child', 'helper')] },
      ],
      tasks: { child: [{ calls: [read('a.txt')] }] },
    },
    program: [ADD, GO, { args: ['trust', 'revoke', '--all'] }, GO],
    expect: { changes: { 'ws/b.txt': 'b\n' } },
  },
]);
