import {
  ACCEPT_EDITS,
  AUTONOMOUS,
  edit,
  glob,
  grep,
  inTurn,
  ls,
  ofClass,
  once,
  read,
  write,
} from '../calls.ts';
import type { Call } from '../case.ts';

const many = (times: number, call: (index: number) => Call): readonly Call[] =>
  Array.from({ length: times }, (_, index) => call(index));

export const LINK_CASES = ofClass('links and races', [
  {
    name: 'a link to a file outside is not read, searched or written through (CVE-2026-25724)',
    files: { 'ws/link': { link: '@out@/secret.txt' } },
    settings: AUTONOMOUS,
    model: once(
      read('link'),
      grep('canary', { path: 'link' }),
      grep('canary'),
      write('link'),
      edit('link', 'canary', 'x'),
    ),
    expect: { calls: ['stopped', 'stopped', 'ran', 'stopped', 'stopped'] },
  },
  {
    name: 'a link to a directory outside, by everything that goes below it (CVE-2026-39861)',
    files: { 'ws/dir': { link: '@out@' } },
    settings: AUTONOMOUS,
    model: once(
      read('dir/secret.txt'),
      write('dir/new.txt'),
      write('dir/new/deep.txt'),
      ls('dir'),
      glob('**/*', 'dir'),
      glob('dir/*'),
      grep('canary', { path: 'dir' }),
    ),
    expect: { calls: Array.from({ length: 7 }, () => 'stopped' as const) },
  },
  {
    name: 'a relative link, and one through several others, that lead out',
    files: {
      'ws/one': { link: 'two' },
      'ws/two': { link: 'sub/three' },
      'ws/sub/three': { link: '../../out/secret.txt' },
      'ws/up': { link: '..' },
    },
    settings: AUTONOMOUS,
    model: once(read('one'), write('two'), read('up/out/secret.txt'), write('up/out/new.txt')),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'a link to what does not exist yet outside is not made there',
    files: {
      'ws/new.txt': { link: '@out@/made.txt' },
      'ws/bashrc': { link: '@home@/.bash_profile' },
    },
    settings: AUTONOMOUS,
    model: once(write('new.txt'), write('bashrc')),
    expect: { calls: ['stopped', 'stopped'] },
  },
  {
    name: 'a harmless name that is a link to a protected file of the workspace',
    files: {
      'ws/.git/config': '[core]\n',
      'ws/.git/hooks/a.sample': '#!/bin/sh\n',
      'ws/notes.txt': { link: '.git/config' },
      'ws/scripts': { link: '.git/hooks' },
    },
    settings: { ...AUTONOMOUS, allow: ['Write'] },
    model: {
      main: [
        { calls: [read('notes.txt')] },
        { calls: [write('notes.txt'), write('scripts/pre-commit')] },
      ],
    },
    expect: { calls: ['ran', 'refused', 'refused'] },
  },
  {
    name: 'a harmless name that is a link to a secret of the workspace',
    files: { 'ws/.env': 'KEY=@canary@\n', 'ws/settings.txt': { link: '.env' } },
    settings: { ...AUTONOMOUS, allow: ['Read'] },
    model: once(read('settings.txt'), grep('KEY', { path: 'settings.txt' }), grep('KEY')),
    expect: { calls: ['refused', 'stopped', 'ran'] },
  },
  {
    name: 'links that lead around in the workspace are followed (control)',
    control: true,
    files: {
      'ws/sub/b.txt': 'below\n',
      'ws/link.txt': { link: 'sub/b.txt' },
      'ws/dir': { link: 'sub' },
      'ws/round': { link: '../ws/sub' },
      'ws/absolute': { link: '@ws@/sub/b.txt' },
    },
    settings: ACCEPT_EDITS,
    model: {
      main: [
        { calls: [read('link.txt'), read('dir/b.txt'), read('round/b.txt'), read('absolute')] },
        { calls: [edit('link.txt', 'below', 'changed'), write('dir/new.txt', 'new\n')] },
      ],
    },
    expect: {
      calls: ['ran', 'ran', 'ran', 'ran', 'ran', 'ran'],
      changes: { 'ws/sub/b.txt': 'changed\n', 'ws/sub/new.txt': 'new\n' },
    },
  },
  {
    name: 'a workspace that is itself reached by a link (control)',
    control: true,
    files: { alias: { link: 'ws' } },
    settings: { ...ACCEPT_EDITS, cwd: 'alias' },
    model: { main: inTurn(read('a.txt'), edit('a.txt', 'one', 'two'), read('@root@/alias/a.txt')) },
    expect: { calls: ['ran', 'ran', 'ran'], changes: { 'ws/a.txt': 'two\ntwo\n' } },
  },
  {
    name: 'links in a circle, to themselves and forty deep',
    files: {
      'ws/self': { link: 'self' },
      'ws/a': { link: 'b' },
      'ws/b': { link: 'a' },
      'ws/dir/again': { link: '.' },
      ...Object.fromEntries(
        many(60, (index) => ({ name: `ws/l${index}`, input: { link: `l${index + 1}` } })).map(
          ({ name }, index) => [name, { link: index === 59 ? 'a.txt' : `l${index + 1}` }],
        ),
      ),
    },
    settings: AUTONOMOUS,
    model: once(
      read('self'),
      read('a'),
      write('b'),
      read(`dir/${'again/'.repeat(100)}x`),
      read('l0'),
      glob('**/*.txt'),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped', 'stopped', 'ran'] },
  },
  {
    name: 'another name of a file outside (hard link) is not written',
    files: { 'ws/hard.txt': { hardLink: 'out/secret.txt' } },
    settings: AUTONOMOUS,
    model: { main: inTurn(read('hard.txt'), write('hard.txt'), edit('hard.txt', 'canary', 'x')) },
    expect: { calls: ['stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'pipes and sockets are not waited for',
    files: { 'ws/pipe': { fifo: true }, 'ws/dir/pipe': { fifo: true } },
    settings: AUTONOMOUS,
    model: once(
      read('pipe'),
      write('pipe'),
      edit('pipe', 'a', 'b'),
      grep('x', { path: 'pipe' }),
      grep('x'),
      glob('**/*'),
    ),
    expect: { calls: ['failed', 'failed', 'failed', 'stopped', 'ran', 'ran'] },
  },
  {
    name: 'a directory in the place of a file, and the other way round',
    files: { 'ws/sub/b.txt': 'b\n' },
    settings: AUTONOMOUS,
    model: once(read('sub'), write('sub'), write('a.txt/b.txt'), ls('a.txt')),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'a file becomes a link between its listing and its reading',
    settings: AUTONOMOUS,
    model: {
      main: [
        { calls: [glob('*.txt')] },
        {
          before: [{ put: 'ws/a.txt', entry: { link: '@out@/secret.txt' } }],
          calls: [read('a.txt'), write('a.txt')],
        },
      ],
    },
    expect: { calls: ['ran', 'stopped', 'stopped'], changes: { 'ws/a.txt': true } },
  },
  {
    name: 'a file that was read becomes a link before it is edited',
    settings: AUTONOMOUS,
    model: {
      main: [
        { calls: [read('a.txt')] },
        {
          before: [
            { put: 'out/copy.txt', entry: 'one\ntwo\n' },
            { put: 'ws/a.txt', entry: { link: '@out@/copy.txt' } },
          ],
          calls: [edit('a.txt', 'one', 'two'), write('a.txt')],
        },
      ],
    },
    expect: {
      calls: ['ran', 'stopped', 'stopped'],
      changes: { 'ws/a.txt': true, 'out/copy.txt': 'one\ntwo\n' },
    },
  },
  {
    name: 'a file that is a link every other moment is never read through it',
    files: { 'ws/flip.txt': 'harmless\n' },
    settings: AUTONOMOUS,
    model: {
      main: [
        {
          before: [{ flip: 'ws/flip.txt', target: '@out@/secret.txt' }],
          calls: many(90, () => read('flip.txt')),
        },
      ],
    },
    expect: {},
  },
  ...(
    [
      ['read', read('flip/secret.txt')],
      ['searched', grep('.', { path: 'flip' })],
      ['searched from above', grep('canary')],
      ['listed', ls('flip')],
      ['globbed', glob('**/*', 'flip')],
    ] as const
  ).map(([how, call]) => ({
    name: `a directory that is a link every other moment: nothing is ${how} below it`,
    files: { 'ws/flip/secret.txt': 'harmless\n', 'out/canary-@canary@.txt': '@canary@' },
    settings: AUTONOMOUS,
    model: {
      main: [
        {
          before: [{ flip: 'ws/flip', target: '@out@' }],
          calls: many(how === 'read' ? 90 : 15, () => call),
        },
      ],
    },
    expect: {},
  })),
  {
    name: 'a directory that is a link every other moment: nothing is written below it',
    files: { 'ws/flip/kept.txt': 'kept\n' },
    settings: AUTONOMOUS,
    model: {
      main: [
        {
          before: [{ flip: 'ws/flip', target: '@out@' }],
          calls: many(90, () => write('flip/kept.txt', 'kept\n')),
        },
      ],
    },
    expect: {},
  },
  {
    name: 'the directory that a call works in is renamed away under it',
    files: { 'ws/sub/b.txt': 'b\n' },
    settings: AUTONOMOUS,
    model: {
      main: [
        { calls: [read('sub/b.txt')] },
        {
          before: [
            { rename: ['ws/sub', 'out/sub'] },
            { put: 'ws/sub', entry: { link: '@out@/sub' } },
          ],
          calls: [read('sub/b.txt'), edit('sub/b.txt', 'b', 'c'), write('sub/c.txt')],
        },
      ],
    },
    expect: {
      calls: ['ran', 'stopped', 'stopped', 'stopped'],
      changes: { 'ws/sub': true, 'ws/sub/b.txt': null, 'out/sub': true, 'out/sub/b.txt': 'b\n' },
    },
  },
  {
    name: 'a mode is kept by an edit, and none is widened (control)',
    control: true,
    files: { 'ws/run.sh': { text: '#!/bin/sh\necho a\n', mode: 0o750 } },
    settings: ACCEPT_EDITS,
    model: { main: inTurn(read('run.sh'), edit('run.sh', 'echo a', 'echo b')) },
    expect: { calls: ['ran', 'ran'], changes: { 'ws/run.sh': '#!/bin/sh\necho b\n' } },
  },
]);
