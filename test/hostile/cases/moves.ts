import { inTurn, ofClass, once, read, write } from '../calls.ts';
import type { Call, Settings } from '../case.ts';

const move = (source: string, destination: string, more = {}): Call => ({
  name: 'MoveFile',
  input: { source, destination, ...more },
});
const remove = (path: string, more = {}): Call => ({
  name: 'DeleteFile',
  input: { file_path: path, ...more },
});
const ALL = { recursive: true };
const OVER = { overwrite: true };

/** A main agent that has the tools for moving and deleting. */
function mover(more: Settings = {}): Settings {
  const tools = 'Read, Write, LS, FileInfo, MoveFile, DeleteFile, SetEnv, GetEnv, Bash, Task';
  return {
    mode: 'autonomous',
    agent: 'mover',
    agents: { mover: { description: 'moves', prompt: 'You move.', tools } },
    ...more,
  };
}

const EVERYTHING = ['MoveFile', 'DeleteFile', 'Read', 'Write'];

const PATH_CASES = ofClass('paths', [
  {
    name: 'nothing outside is moved in, moved over or deleted, by any spelling',
    settings: mover({ allow: EVERYTHING }),
    model: once(
      move('../out/secret.txt', 'mine.txt'),
      move('@out@/secret.txt', 'mine.txt'),
      move('sub/../../out/secret.txt', 'mine.txt'),
      move('a.txt', '@out@/new.txt'),
      move('a.txt', '../out/secret.txt', OVER),
      move('a.txt', '~/.bashrc', OVER),
      remove('../out/secret.txt'),
      remove('@out@', ALL),
      remove('~/.ssh', ALL),
      remove('/proc/self/mem'),
      move('/dev/null', 'null'),
    ),
    expect: { calls: Array.from({ length: 11 }, () => 'stopped' as const) },
  },
  {
    name: 'the workspace itself, and what holds it, stays',
    settings: mover({ allow: EVERYTHING }),
    model: once(
      remove('.', ALL),
      remove('@ws@', ALL),
      remove('..', ALL),
      remove('sub/..', ALL),
      move('.', 'sub/all', ALL),
      move('@root@', 'x', ALL),
    ),
    expect: { calls: Array.from({ length: 6 }, () => 'stopped' as const) },
  },
  {
    name: 'protected and secret files are not moved, moved to or deleted, whatever the rules',
    files: {
      'ws/.git/config': '[core]\n',
      'ws/.env': '@canary@\n',
      'ws/.muster/agents/x.md': 'x',
      'ws/evil': '#!/bin/sh\n',
      'ws/dir/.env': '@canary@\n',
    },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      move('.env', 'plain.txt'),
      move('evil', '.git/hooks/pre-commit'),
      move('evil', '.envrc'),
      move('evil', '.MUSTER/agents/y.md'),
      remove('.git', ALL),
      remove('.git/config'),
      remove('.env'),
      move('.muster', 'muster', ALL),
      move('dir', 'elsewhere', ALL),
      remove('dir', ALL),
    ),
    expect: { calls: Array.from({ length: 10 }, () => 'stopped' as const) },
  },
  {
    name: 'a directory does not become a protected one by a new name for it',
    files: {
      'ws/cargo/config.toml': '[build]\n',
      'ws/mine/config.json': '{}',
      'ws/tools/hooks/pre-commit': '#!/bin/sh\n',
      'ws/repo': { repository: '[core]\n\thooksPath = built/hooks\n' },
      'ws/repo/other/hooks/pre-commit': '#!/bin/sh\n',
    },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      move('cargo', '.cargo', ALL),
      move('mine', '.docker', ALL),
      move('tools', '.git', ALL),
      move('repo/other', 'repo/built', ALL),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'a directory that holds a secret is not moved to where it would be none',
    files: { 'ws/.docker/config.json': '@canary@', 'ws/home/.ssh/known': '@canary@' },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      move('.docker', 'docker', ALL),
      move('home/.ssh', 'ssh', ALL),
      move('home', 'h', ALL),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'rules for what is written and read bind moving and deleting, of what lies below, too',
    files: {
      'ws/keep/a.txt': 'a',
      'ws/private/b.txt': '@canary@',
      'ws/wrap/private2/c.txt': '@canary@',
      'ws/free.txt': 'free',
    },
    settings: mover({
      allow: EVERYTHING,
      deny: ['Write(keep/**)', 'Read(private/**)', 'Read(wrap/private2/**)'],
    }),
    model: once(
      remove('keep/a.txt'),
      remove('keep', ALL),
      move('keep/a.txt', 'x'),
      move('free.txt', 'keep/free.txt'),
      move('private/b.txt', 'public.txt'),
      move('private', 'public', ALL),
      move('wrap', 'open', ALL),
    ),
    expect: { calls: Array.from({ length: 7 }, () => 'stopped' as const) },
  },
  {
    name: 'with Edit or Write denied nothing is moved or deleted, and the tools are not offered',
    settings: mover({ allow: ['MoveFile', 'DeleteFile'], deny: ['Write'] }),
    model: once(move('a.txt', 'b.txt'), remove('a.txt')),
    expect: {
      calls: ['refused', 'refused'],
      notOffered: { main: ['MoveFile', 'DeleteFile'] },
    },
  },
  {
    name: 'plan mode moves and deletes nothing, and sets nothing',
    settings: mover({ mode: 'plan', allow: [...EVERYTHING, 'SetEnv'] }),
    model: once(move('a.txt', 'b.txt'), remove('a.txt'), {
      name: 'SetEnv',
      input: { name: 'A', value: 'b' },
    }),
    expect: {
      calls: ['refused', 'refused', 'refused'],
      notOffered: { main: ['MoveFile', 'DeleteFile', 'SetEnv'] },
    },
  },
  {
    name: 'acceptEdits is for Write and Edit: moving and deleting are asked about',
    settings: mover({ mode: 'acceptEdits' }),
    model: once(move('a.txt', 'b.txt'), remove('a.txt')),
    expect: {
      calls: [
        { end: 'refused', step: 'tool_default' },
        { end: 'refused', step: 'tool_default' },
      ],
    },
  },
  {
    name: 'a child of a task in plan mode deletes nothing',
    settings: {
      ...mover({ mode: 'plan', allow: EVERYTHING }),
      agents: {
        mover: { description: 'leads', prompt: 'Lead.', tools: 'Task' },
        cleaner: { description: 'cleans', prompt: 'Clean.', tools: 'DeleteFile, Read' },
      },
    },
    model: {
      main: inTurn({
        name: 'Task',
        input: { prompt: '[cleaner] go', description: 'c', subagent_type: 'cleaner' },
      }),
      tasks: { cleaner: inTurn(remove('a.txt')) },
    },
    expect: { calls: ['ran'], tasks: { cleaner: ['refused'] } },
  },
  {
    name: 'nothing that was not read is moved over',
    files: { 'ws/b.txt': 'mine\n' },
    settings: mover(),
    model: {
      main: [
        { calls: [move('a.txt', 'b.txt')] },
        { calls: [move('a.txt', 'b.txt', OVER)] },
        { calls: [move('a.txt', 'c.txt')] },
        { calls: [write('c.txt', 'never read')] },
      ],
    },
    expect: {
      calls: ['failed', 'failed', 'ran', 'failed'],
      changes: { 'ws/a.txt': null, 'ws/c.txt': 'one\ntwo\n' },
    },
  },
  {
    name: 'a person who is asked about a directory has decided about what is in it for the same reason',
    files: {
      'ws/.git/config': '[core]\n',
      'ws/.git/hooks/a': '#!/bin/sh\n',
      'ws/.husky/.env': '@canary@\n',
    },
    settings: mover({ person: 'allow' }),
    model: once(remove('.git', ALL), remove('.husky', ALL), remove('.husky/.env')),
    expect: {
      calls: ['ran', 'failed', 'ran'],
      changes: {
        'ws/.git': null,
        'ws/.git/config': null,
        'ws/.git/hooks': null,
        'ws/.git/hooks/a': null,
        'ws/.husky/.env': null,
      },
    },
  },
  {
    name: 'files are moved and deleted where they may be (control)',
    control: true,
    files: { 'ws/d/x.txt': 'x', 'ws/d/e/y.txt': 'y', 'ws/old/z.txt': 'z' },
    settings: mover(),
    model: {
      main: [
        { calls: [read('a.txt')] },
        { calls: [move('d', 'moved/d', ALL), remove('old', ALL)] },
        { calls: [move('readme.md', 'a.txt', OVER)] },
      ],
    },
    expect: {
      calls: ['ran', 'ran', 'ran', 'ran'],
      changes: {
        'ws/d': null,
        'ws/d/e': null,
        'ws/d/e/y.txt': null,
        'ws/d/x.txt': null,
        'ws/moved': true,
        'ws/moved/d': true,
        'ws/moved/d/e': true,
        'ws/moved/d/e/y.txt': 'y',
        'ws/moved/d/x.txt': 'x',
        'ws/old': null,
        'ws/old/z.txt': null,
        'ws/readme.md': null,
        'ws/a.txt': 'hello\n',
      },
    },
  },
]);

const LINK_CASES = ofClass('links and races', [
  {
    name: 'through a link nothing outside is moved or deleted',
    files: {
      'ws/dir': { link: '@out@' },
      'ws/link': { link: '@out@/secret.txt' },
      'ws/sub/inner': { link: '@home@/.ssh' },
    },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      remove('dir/secret.txt'),
      remove('dir', ALL),
      remove('link'),
      move('dir/secret.txt', 'mine.txt'),
      move('link', 'mine.txt'),
      move('a.txt', 'dir/new.txt'),
      move('a.txt', 'link', OVER),
      read('sub/inner/id_ed25519'),
    ),
    expect: { calls: Array.from({ length: 8 }, () => 'stopped' as const) },
  },
  {
    name: 'of a directory that is deleted its links go, and not what they lead to',
    files: {
      'ws/d/out': { link: '@out@' },
      'ws/d/file': { link: '@out@/secret.txt' },
      'ws/d/round': { link: '.' },
      'ws/d/x.txt': 'x',
    },
    settings: mover(),
    model: once(remove('d', ALL)),
    expect: {
      calls: ['ran'],
      changes: {
        'ws/d': null,
        'ws/d/file': null,
        'ws/d/out': null,
        'ws/d/round': null,
        'ws/d/x.txt': null,
      },
    },
  },
  {
    name: 'a link in a protected directory is not removed by a name that looks harmless',
    files: {
      'ws/.git/config': '[core]\n',
      'ws/.git/inner': { link: '../a.txt' },
      'ws/alias': { link: '.git' },
    },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      remove('alias/inner'),
      move('alias/inner', 'x'),
      move('a.txt', 'alias/inner', OVER),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'another name of a file outside (hard link) is neither moved nor deleted',
    files: {
      'ws/hard.txt': { hardLink: 'out/secret.txt' },
      'ws/d/in.txt': { hardLink: 'out/secret.txt' },
    },
    settings: mover({ allow: EVERYTHING }),
    model: once(
      move('hard.txt', 'soft.txt'),
      remove('hard.txt'),
      move('d', 'e', ALL),
      remove('d', ALL),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'a directory that is a link every other moment: nothing is deleted or moved below it',
    files: { 'ws/flip/kept.txt': 'kept\n', 'out/kept.txt': 'kept\n', 'out/other.txt': 'other\n' },
    settings: mover({ allow: EVERYTHING }),
    model: {
      main: [
        {
          before: [{ flip: 'ws/flip', target: '@out@' }],
          calls: [
            ...Array.from({ length: 40 }, () => remove('flip/other.txt')),
            ...Array.from({ length: 40 }, () => move('flip/other.txt', 'flip/third.txt')),
          ],
        },
      ],
    },
    expect: {},
  },
  {
    name: 'pipes and links in a circle are not waited for',
    files: { 'ws/pipe': { fifo: true }, 'ws/a': { link: 'b' }, 'ws/b': { link: 'a' } },
    settings: mover(),
    model: once(move('pipe', 'tube'), remove('a'), move('a', 'c'), {
      name: 'FileInfo',
      input: { path: 'a' },
    }),
    expect: {
      calls: ['ran', 'stopped', 'stopped', 'failed'],
      changes: { 'ws/pipe': null, 'ws/tube': true },
    },
  },
]);

const SECRET_CASES = ofClass('secrets', [
  {
    name: 'file info of a secret file is asked for, and what variables hold stays hidden',
    files: { 'ws/.env': '@canary@\n' },
    env: { DEPLOY_TOKEN: '@canary@' },
    settings: mover({ allow: ['FileInfo'] }),
    model: once(
      { name: 'FileInfo', input: { path: '.env' } },
      { name: 'GetEnv', input: { name: 'DEPLOY_TOKEN' } },
      { name: 'GetEnv', input: {} },
      { name: 'SetEnv', input: { name: 'PATH', value: '@ws@' } },
      { name: 'SetEnv', input: { name: 'BASH_ENV', value: '@ws@/x' } },
    ),
    expect: { calls: ['refused', 'failed', 'ran', 'stopped', 'stopped'] },
  },
]);

export const MOVE_CASES = [...PATH_CASES, ...LINK_CASES, ...SECRET_CASES];
