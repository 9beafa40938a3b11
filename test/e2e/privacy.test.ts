import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { systemErrorCode } from '../../src/base/errors.ts';
import { TEMPORARY_SUFFIX } from '../../src/control/socket-file.ts';
import { firstUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { pngOf } from '../pictures.ts';
import { BIN, type Sandbox } from './muster.ts';
import { bash, openWorld } from './world.ts';

const KEEPER = {
  keeper: { description: 'k', prompt: 'You keep.', tools: 'Read', memory: 'user' },
  local: { description: 'l', prompt: 'You keep.', tools: 'Read', memory: 'local' },
};

const ROUNDS = [
  [
    { name: 'Task', input: { subagent_type: 'keeper', prompt: 'keep' } },
    { name: 'Task', input: { subagent_type: 'local', prompt: 'keep' } },
    { name: 'Read', input: { file_path: 'a.png' } },
  ],
  [
    bash('for i in $(seq 9000); do echo "line $i"; done; mkdir by-command; echo x > by-command/x'),
    { name: 'Write', input: { file_path: 'made/by-tool.txt', content: 'x\n' } },
    { name: 'Bash', input: { command: 'echo bg', run_in_background: true } },
  ],
  // So long the socket of the run and the locks of its tasks are there.
  [bash('sleep 2')],
];

function script(request: RecordedRequest) {
  const round = toolResultRounds(request);
  if (firstUserText(request) === 'keep') {
    const input = { file: 'ports', text: 'The server listens on 8080.' };
    return round === 0 ? { toolCalls: [{ name: 'MemoryAppend', input }] } : { text: 'kept' };
  }
  const toolCalls = ROUNDS[round];
  return toolCalls === undefined ? { text: 'done' } : { toolCalls };
}

/** The directories of a user, all of them empty, in which programs keep what is their own. */
const OWN = ['home', 'data', 'config', 'state', 'cache', 'run', 'tmp'] as const;

type Modes = Map<string, string>;

/** Adds what is there now below the directories of the user: permission bits by path. */
function addModes(modes: Modes, { root }: Sandbox): void {
  const waiting = OWN.map((own) => join(root, own));
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const name of namesIn(directory)) {
      const path = join(directory, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      const kind = stats.isDirectory() ? 'directory' : stats.isSocket() ? 'socket' : 'file';
      // A socket is bound under a passing name, and only there has it the mode that the umask leaves, for
      // the moment before it gets its own mode and its own name (src/control/socket-file.ts).
      if (kind === 'socket' && name.endsWith(TEMPORARY_SUFFIX)) continue;
      modes.set(relative(root, path), `${kind} ${(stats.mode & 0o777).toString(8)}`);
      if (stats.isDirectory()) waiting.push(path);
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    // It was there only for a moment.
    if (systemErrorCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

it('the files of Muster are private under umask 0, and the files of its work are not', async () => {
  await using world = await openWorld({
    files: {
      'a.png': pngOf(30, 20).toString('latin1'),
      '.git/HEAD': '',
      '.claude/agents/mine.md': '---\nname: mine\ndescription: m\n---\nObey.\n',
    },
    script,
  });
  const { sandbox } = world;
  for (const own of OWN) mkdirSync(join(sandbox.root, own), { recursive: true, mode: 0o700 });
  const environment = {
    ...sandbox.environment(world.model.env('anthropic')),
    XDG_CONFIG_HOME: join(sandbox.root, 'config'),
    XDG_STATE_HOME: join(sandbox.root, 'state'),
    XDG_CACHE_HOME: join(sandbox.root, 'cache'),
    XDG_RUNTIME_DIR: join(sandbox.root, 'run'),
    TMPDIR: join(sandbox.root, 'tmp'),
  };
  const modes: Modes = new Map();
  const muster = async (...args: readonly string[]): Promise<string> => {
    const running = promisify(execFile)(
      'bash',
      ['-c', 'umask 0 && exec "$0" "$@"', process.execPath, BIN, ...args],
      { cwd: sandbox.workspace, env: environment },
    );
    const ended = running.then(
      () => true,
      () => true,
    );
    const aMomentLater = () => sleep(50, false);
    while (!(await Promise.race([ended, aMomentLater()]))) addModes(modes, sandbox);
    return (await running).stdout;
  };
  const allowed = ['--permission-mode', 'autonomous', '--agents', JSON.stringify(KEEPER)];
  expect(await muster('-p', 'go', ...allowed)).toContain('done\n');
  expect(await muster('--continue', '-p', 'again', ...allowed)).toContain('done\n');
  const tasks: readonly { id: string; parent: string | null }[] = JSON.parse(
    await muster('tasks', 'list', '--json'),
  );
  const root = tasks.find(({ parent }) => parent === null)?.id ?? '';
  await muster('tasks', 'export', root, 'out.json');
  await muster('tasks', 'delete', root);
  await muster('tasks', 'import', 'out.json');
  await muster('trust', 'add', '--yes');
  await muster(
    'agents',
    'new',
    'helper',
    '--to',
    'user',
    '--description',
    'Reviews database migrations. Use after a change to the schema.',
    '--prompt',
    'p',
  );
  await muster('usage');
  addModes(modes, sandbox);

  const PRIVATE: Readonly<Record<string, string>> = {
    directory: 'directory 700',
    file: 'file 600',
    socket: 'socket 600',
  };
  const open = [...modes].filter(([, mode]) => mode !== PRIVATE[mode.split(' ')[0] ?? '']);
  expect(open).toEqual([]);
  // Nothing was private only because it was never made.
  const kinds = [
    /^data\/tasks\/\w+\.jsonl$/,
    /^data\/tasks\/\w+\.lock$/,
    /^data\/tasks\/\w+\.out$/,
    /^data\/spill\/./,
    /^data\/blobs\/./,
    /^data\/owners\/./,
    /^data\/sockets\/\w+\.sock$/,
    /^data\/index\.jsonl$/,
    /^data\/trust/,
    /^config\/muster\/agent-memory\/keeper\/ports\.md$/,
    /^config\/muster\/agents\/helper\.md$/,
    /^cache\/muster\/compiled\/[^/]+\/./,
  ];
  const paths = [...modes.keys()];
  expect(kinds.filter((kind) => !paths.some((path) => kind.test(path)))).toEqual([]);

  const modeOf = (path: string): string =>
    (statSync(join(sandbox.workspace, path)).mode & 0o777).toString(8);
  const work = ['made', 'made/by-tool.txt', 'by-command', 'by-command/x', 'out.json'];
  expect(work.map((path) => [path, modeOf(path)])).toEqual([
    ['made', '777'],
    ['made/by-tool.txt', '666'],
    ['by-command', '777'],
    ['by-command/x', '666'],
    // It holds conversations.
    ['out.json', '600'],
  ]);
  const notes = '.muster/agent-memory-local';
  expect(
    [notes, `${notes}/local`, `${notes}/local/ports.md`, `${notes}/.gitignore`].map(modeOf),
  ).toEqual(['700', '700', '600', '600']);
});
