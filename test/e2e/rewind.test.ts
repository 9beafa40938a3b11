import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { AnswerToolCall } from '../../src/testing/index.ts';
import { clean, complaint, family, tasks } from './tasks.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

const GO = ['-p', 'go', '--permission-mode', 'autonomous', '--output-format', 'json'];

const read = (file_path: string): AnswerToolCall => ({ name: 'Read', input: { file_path } });
const write = (file_path: string, content: string): AnswerToolCall => ({
  name: 'Write',
  input: { file_path, content },
});

/** Reads and replaces a file; makes another one; runs a command. */
const working = callsInTurn(
  [read('a.txt')],
  [write('a.txt', 'two')],
  [write('made/b.txt', 'new')],
  [bash('echo seen > c.txt')],
);

async function eventsOf(world: World, id: string): Promise<readonly TaskEvent[]> {
  const lines = clean(await tasks(world, 'log', id, '--json'))
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

async function worked(world: World) {
  const run = await world.run(GO);
  expect(run.code).toBe(0);
  const { root } = await family(world);
  const ended = (await eventsOf(world, root)).filter(({ type }) => type === 'call.ended');
  return { root, afterRead: ended[0]?.seq ?? 0, afterWrite: ended[1]?.seq ?? 0 };
}

function filesOf({ sandbox }: World): readonly (string | null)[] {
  return ['a.txt', 'made/b.txt', 'c.txt'].map((name) => {
    const path = join(sandbox.workspace, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  });
}

const FILES = { 'a.txt': 'one' };

describe.concurrent('muster tasks rewind', () => {
  it('puts back only the files, which the model then reads, or only the conversation', async () => {
    await using world = await openWorld({ files: FILES, script: working });
    const { root, afterRead } = await worked(world);
    const at = ['rewind', root, '--to', String(afterRead)];
    const done = clean(await tasks(world, ...at, '--only', 'files', '--yes'));
    expect(done.trimEnd().split('\n')).toEqual([
      `the files of task ${root} (main) go back to event ${afterRead}`,
      '  conversation: it stays as it is',
      '  put back  a.txt',
      '  remove    made/b.txt',
      '  remove    c.txt',
      `the files of task ${root} are those of event ${afterRead}: 3 files put back`,
      `  to continue from there: muster tasks resume ${root}; to undo this: muster tasks rewind ${root} --undo`,
    ]);
    expect(filesOf(world)).toEqual(['one', null, null]);
    const asked = world.model.requests.length;
    expect((await world.run(['-p', 'more', '--resume', root])).code).toBe(0);
    expect(JSON.stringify(world.model.requests[asked])).toContain(
      'The user put back files to an earlier state',
    );
    const cut = clean(await tasks(world, ...at, '--only', 'conversation', '--yes'));
    expect(cut).toContain(`task ${root} is at event ${afterRead}; all files stay as they are\n`);
    expect(complaint(await tasks(world, 'rewind', root, '--undo', '--only', 'files'), 2)).toContain(
      '--undo takes back the last rewind: leave out --to and --only',
    );
  });

  it('shows what it would do, and does it with --yes; the conversation goes on from there', async () => {
    await using world = await openWorld({ files: FILES, script: working });
    const { root, afterRead } = await worked(world);
    const first = world.model.requests;
    const asked = first.length;
    const at = ['rewind', root.slice(0, 9), '--to', String(afterRead + 1)];
    const shown = await tasks(world, ...at);
    expect(shown.code).toBe(2);
    expect(shown.stderr).toBe(
      'muster: there is no terminal to ask on; to do what is shown, add --yes\n',
    );
    const workspace = world.sandbox.workspace;
    const plan = [
      expect.stringMatching(
        `^task ${root} \\(main\\) goes back to event ${afterRead} of .* \\(the conversation is not whole at event ${afterRead + 1}\\)$`,
      ),
      '  conversation: 10 messages → 3, 5 turns → 1, completed → no end',
      '  put back  a.txt',
      '  remove    made/b.txt',
      '  remove    c.txt',
    ];
    expect(shown.stdout.trimEnd().split('\n')).toEqual(plan);
    expect(filesOf(world)).toEqual(['two', 'new', 'seen\n']);

    const done = clean(await tasks(world, ...at, '--yes'));
    expect(done.trimEnd().split('\n')).toEqual([
      ...plan,
      `task ${root} is at event ${afterRead}: 3 files put back`,
      `  to continue from there: muster tasks resume ${root}; to undo this: muster tasks rewind ${root} --undo`,
    ]);
    expect(filesOf(world)).toEqual(['one', null, null]);
    expect(existsSync(join(workspace, 'made'))).toBe(false);
    expect(clean(await tasks(world, ...at))).toBe(
      `task ${root} is already at event ${afterRead}: nothing to do\n`,
    );
    expect(clean(await tasks(world, 'list'))).toContain('interrupted');
    expect(clean(await tasks(world, 'show', root))).toContain(
      `rewound  to event ${afterRead}, with 3 files`,
    );

    const resumed = await world.run(['tasks', 'resume', root, '--permission-mode', 'autonomous']);
    expect([resumed.code, resumed.stdout]).toEqual([0, 'done\n']);
    // Byte for byte what was asked after the read, the first time.
    expect(world.model.requests[asked]?.body).toEqual(first[1]?.body);
    expect(filesOf(world)).toEqual(['two', 'new', 'seen\n']);
    expect(clean(await tasks(world, 'rerun', root))).toContain('identical');
    const undo = await tasks(world, 'rewind', root, '--undo', '--yes');
    expect(complaint(undo)).toMatch(
      /^CONFLICT: task \w+ has continued after that rewind \(event \d+\): /,
    );
  });

  it('is undone', async () => {
    await using world = await openWorld({ files: FILES, script: working });
    const { root, afterRead } = await worked(world);
    const was = clean(await tasks(world, 'show', root, '--json'));
    clean(await tasks(world, 'rewind', root, '--to', String(afterRead), '--yes'));
    const undone = JSON.parse(
      clean(await tasks(world, 'rewind', root, '--undo', '--yes', '--json')),
    );
    expect(undone).toMatchObject({ task: root, isDone: true, left: [], refused: [] });
    expect(filesOf(world)).toEqual(['two', 'new', 'seen\n']);
    const { status, result } = JSON.parse(was).data ?? JSON.parse(was);
    const now = JSON.parse(clean(await tasks(world, 'show', root, '--json')));
    expect({ status: (now.data ?? now).status, result: (now.data ?? now).result }).toEqual({
      status,
      result,
    });
    expect(complaint(await tasks(world, 'rewind', root, '--undo'), 2)).toBe(
      `task ${root} was not rewound: there is nothing to undo`,
    );
  });

  it('does nothing where a file has changed since, and names it', async () => {
    await using world = await openWorld({ files: FILES, script: working });
    const { root, afterRead } = await worked(world);
    const path = join(world.sandbox.workspace, 'a.txt');
    writeFileSync(path, 'by hand');
    const log = join(world.sandbox.data, 'tasks', `${root}.jsonl`);
    const before = readFileSync(log, 'utf8');
    const run = await tasks(world, 'rewind', root, '--to', String(afterRead), '--yes');
    expect([run.code, run.stderr]).toEqual([1, '']);
    expect(run.stdout).toContain(
      'not done and nothing changed, because these files prevent the rewind:\n  a.txt: was changed since, by another program or by a command\n',
    );
    expect(filesOf(world)).toEqual(['by hand', 'new', 'seen\n']);
    expect(readFileSync(log, 'utf8')).toBe(before);
  });

  it('keeps what it needs for the user alone, deletes it with the task, and exports it never', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'a former secret' }, script: working });
    const { root, afterRead } = await worked(world);
    const former = join(world.sandbox.data, 'former');
    expect(statSync(former).mode & 0o777).toBe(0o700);
    const file = join(world.sandbox.root, 'task.muster');
    clean(await tasks(world, 'export', root, file));
    expect(readFileSync(file, 'utf8').match(/former secret/g)?.length).toBe(1);
    const elsewhere = join(world.sandbox.root, 'elsewhere');
    mkdirSync(elsewhere);
    clean(await tasks(world, 'import', file, '--data-dir', elsewhere));
    const run = await tasks(
      world,
      'rewind',
      root,
      '--to',
      String(afterRead),
      '--yes',
      '--data-dir',
      elsewhere,
    );
    expect([run.code, run.stderr]).toEqual([1, '']);
    expect(run.stdout).toContain(': was changed before its task was imported');
    expect(filesOf(world)).toEqual(['two', 'new', 'seen\n']);
  });

  it('asks for an event', async () => {
    await using world = await openWorld({ script: working, files: FILES });
    const { root } = await worked(world);
    const { length } = await eventsOf(world, root);
    expect(complaint(await tasks(world, 'rewind', root), 2)).toContain('--to N');
    expect(complaint(await tasks(world, 'rewind', root, '--to', '5', '--undo'), 2)).toContain(
      '--undo',
    );
    expect(complaint(await tasks(world, 'rewind', root, '--to', '999'))).toBe(
      `INVALID_PARAM: --to: must be an event of task ${root}, from 0 to ${length - 1}`,
    );
  });
});
