import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import type { GitChange, GitPort } from '../../../src/workspaces/landing/git-change.ts';
import { land, recoverLanding, undoLanding } from '../../../src/workspaces/landing/land.ts';
import { planLanding, type LandingPlan } from '../../../src/workspaces/landing/plan-landing.ts';
import {
  findUnfinishedLanding,
  listUnfinishedLandings,
} from '../../../src/workspaces/landing/unfinished.ts';
import { canMount, smallDisk } from '../../small-disk.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { file } from '../merge/memory-tree.ts';
import { DIFFERENCES, SOURCE } from './kill-scenario.ts';
import {
  createContext,
  createPlace,
  landAll,
  readTree,
  writeStates,
  type Place,
} from './support.ts';

/** Plans a landing that must have no conflicts. */
function plan(differences: readonly PathDifference[], source: string): LandingPlan {
  const result = planLanding(differences, source);
  if (result.kind === 'ready') return result;
  throw new Error(result.conflicts.map(({ path, message }) => `${path} ${message}`).join());
}

async function failureOf(work: Promise<unknown>): Promise<MusterError> {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
  throw new Error('it did not fail');
}

function prepared(states: Readonly<Record<string, PathState>> = SOURCE): Place {
  const place = createPlace();
  writeStates(place.source, states);
  return place;
}

const EDIT: PathDifference = { path: 'd/a', before: file('1\n'), after: file('2\n') };

describe('land', () => {
  it('writes every kind of change, and keeps everything else', async () => {
    const place = prepared();
    fs.chmodSync(join(place.source, 'edited.txt'), 0o600);
    fs.mkdirSync(join(place.source, 'empty'));
    const landed = await landAll(DIFFERENCES, place);
    expect(landed).toMatchObject({ kind: 'landed', number: 1, left: [] });
    expect(readTree(place.source)).toEqual({
      'becomes-directory': '755 directory',
      'becomes-directory/x': '644 x\n',
      'becomes-file': '644 now a file\n',
      created: '755 directory',
      'created/in': '755 directory',
      'created/in/here.txt': '644 new\n',
      'created/link': '-> ../edited.txt',
      'edited.txt': '600 ONE\ntwo\nthree\nfour\nFIVE\n',
      empty: '755 directory',
      gone: '755 directory',
      'gone/kept.log': '644 ignored by git\n',
      link: '-> edited.txt',
      new: '755 directory',
      'new/name.txt': '644 one\ntwo\nthree\nfour\nFIVE\n',
      'script.sh': '755 #!/bin/sh\n',
      'swap-1': '644 second\n',
      'swap-2': '644 first\n',
      'untouched.txt': '644 the user works here\n',
    });
    expect(planLanding(DIFFERENCES, place.source)).toEqual({
      kind: 'ready',
      source: place.source,
      changes: [],
    });
  });

  it('refuses a source that has changed since the plan was made, and writes nothing', async () => {
    const place = prepared({ 'd/a': file('1\n'), b: file('b') });
    const made = plan([EDIT, { path: 'b', before: file('b'), after: null }], place.source);
    fs.writeFileSync(join(place.source, 'd/a'), 'by the user\n');
    const before = readTree(place.source);
    const error = await failureOf(land(made, place.context));
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'CONFLICT',
      message: `${place.source}/d/a was changed by somebody else just now; nothing was written. Try again.`,
    });
    expect(readTree(place.source)).toEqual(before);
    expect(fs.readdirSync(place.context.directory)).toEqual([]);
  });

  it('follows no link out of the source', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    const made = plan([EDIT], place.source);
    const outside = tempDirectory();
    fs.writeFileSync(join(outside, 'a'), '1\n');
    fs.rmSync(join(place.source, 'd'), { recursive: true });
    fs.symlinkSync(outside, join(place.source, 'd'));
    expect((await failureOf(land(made, place.context))).code).toBe('CONFLICT');
    expect(fs.readFileSync(join(outside, 'a'), 'utf8')).toBe('1\n');
  });

  it('refuses a read-only file', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    fs.chmodSync(join(place.source, 'd/a'), 0o444);
    const error = await failureOf(landAll([EDIT], place));
    expect(error.message).toBe(
      `${place.source}/d/a is read-only: nobody may write it. Nothing was written.`,
    );
    expect(readTree(place.source)['d/a']).toBe('444 1\n');
  });

  it.runIf(canMount)('takes everything back when the disk is full', async () => {
    const place: Place = { source: smallDisk(512), context: createContext(tempDirectory()) };
    writeStates(place.source, { ...SOURCE, big: file('old') });
    const before = readTree(place.source);
    const big = file('x'.repeat(600_000));
    const differences = [...DIFFERENCES, { path: 'big', before: file('old'), after: big }];
    const error = await failureOf(landAll(differences, place));
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'LIMIT_EXCEEDED',
      message: `${place.source}/big cannot be written: no space left on the device. Everything is as before.`,
    });
    expect(readTree(place.source)).toEqual(before);
    expect(fs.readdirSync(place.context.directory)).toEqual([]);
  });

  it.runIf(canMount)('takes everything back when a directory is read-only', async () => {
    const disk = smallDisk(512);
    const place: Place = { source: dirname(disk), context: createContext(tempDirectory()) };
    const name = basename(disk);
    const states = { [`${name}/a`]: file('1\n'), [`${name}/b`]: file('1\n') };
    writeStates(place.source, states);
    const differences = Object.entries(states).map(([path, before]) => ({
      path,
      before,
      after: file('2\n'),
    }));
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const before = readTree(disk);
    const error = await failureOf(landAll(differences, place));
    expect(error.message).toBe(`${disk}/a is on a read-only file system. Everything is as before.`);
    expect(readTree(disk)).toEqual(before);
    execFileSync('mount', ['-o', 'remount,rw', disk]);
    await landAll(differences, place);
    expect(readTree(disk)).toEqual({ a: '644 2\n', b: '644 2\n' });
  });

  it.runIf(canMount)('changes nothing when the disk of the journal is full', async () => {
    const place: Place = { source: tempDirectory(), context: createContext(smallDisk(256)) };
    writeStates(place.source, { a: file('old') });
    const big = file('x'.repeat(600_000));
    const error = await failureOf(landAll([{ path: 'a', before: file('old'), after: big }], place));
    expect(error.code).toBe('LIMIT_EXCEEDED');
    expect(readTree(place.source)).toEqual({ a: '644 old' });
    expect(fs.readdirSync(place.context.directory)).toEqual([]);
  });

  it('takes everything back when a directory can not be replaced', async () => {
    const place = prepared();
    const made = plan(DIFFERENCES, place.source);
    // An ignored file appears in the directory that is to become a file.
    fs.writeFileSync(join(place.source, 'becomes-file/late.log'), 'late');
    const before = readTree(place.source);
    const error = await failureOf(land(made, place.context));
    expect(error.message).toBe(
      `${place.source}/becomes-file is a directory. Everything is as before.`,
    );
    expect(readTree(place.source)).toEqual(before);
    expect(findUnfinishedLanding(dirname(place.context.directory), place.source)).toBeNull();
  });

  it('names the limit of the contents that it reads', () => {
    const place = prepared({ 'd/a': file('1\n') });
    fs.truncateSync(join(place.source, 'd/a'), 256 * 1024 * 1024 + 1);
    expect(() => planLanding([EDIT], place.source)).toThrow(
      `${place.source}/d/a: the files that would be changed have more than 256 MiB together, the limit of one landing`,
    );
  });
});

describe('a second landing', () => {
  it('is refused while another one in the same source is not finished, also above or below it', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    const other = createContext(join(place.source, '..'));
    const { promise: isStopped, resolve: stop } = Promise.withResolvers<void>();
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    const git: GitPort = {
      bringTo: async () => {
        stop();
        await mayGoOn;
        return [];
      },
      findUndoable: async (_source, change) => ({ change, left: [] }),
    };
    const first = land(
      plan([EDIT], place.source),
      { ...place.context, git },
      { git: { index: [], ref: null } },
    );
    await isStopped;
    const startedAt = listUnfinishedLandings(dirname(other.directory))[0]?.startedAt;
    const second = plan([{ path: 'b', before: null, after: file('b') }], join(place.source, 'd'));
    const error = await failureOf(land(second, other));
    goOn();
    await first;
    expect({ code: error.code, message: error.message }).toEqual({
      code: 'CONFLICT',
      message: `the landing of task ${basename(place.context.directory)} in ${place.source} is not finished (started ${startedAt}): wait if it is at work. If its process has died, continue or abort it.`,
    });
    expect(await land(second, other)).toMatchObject({ kind: 'landed', number: 1 });
  });
});

describe('undoLanding', () => {
  it('restores everything, and can be followed by the landing again', async () => {
    const place = prepared();
    fs.chmodSync(join(place.source, 'gone/deep'), 0o700);
    fs.chmodSync(join(place.source, 'gone/deep/a.txt'), 0o640);
    fs.mkdirSync(join(place.source, 'created'));
    const before = readTree(place.source);
    await landAll(DIFFERENCES, place);
    const after = readTree(place.source);
    expect(await undoLanding(place.context)).toMatchObject({ kind: 'landed', number: 2 });
    expect(readTree(place.source)).toEqual(before);
    await landAll(DIFFERENCES, place);
    expect(readTree(place.source)).toEqual(after);
    await undoLanding(place.context);
    expect(readTree(place.source)).toEqual(before);
    expect((await failureOf(undoLanding(place.context))).message).toBe(
      `${place.context.directory}: there is no landing that can be undone`,
    );
  });

  it('keeps later edits of the user, also in renamed files', async () => {
    const lines = '1\n2\n3\n4\n5\n';
    const place = prepared({ a: file(lines), b: file(lines) });
    await landAll(
      [
        { path: 'a', before: file(lines), after: file(lines.replace('1', 'one')) },
        { path: 'c', from: 'b', before: file(lines), after: file(lines.replace('1', 'one')) },
      ],
      place,
    );
    for (const name of ['a', 'c']) fs.appendFileSync(join(place.source, name), 'by the user\n');
    await undoLanding(place.context);
    expect(readTree(place.source)).toEqual({
      a: `644 ${lines}by the user\n`,
      b: `644 ${lines}by the user\n`,
    });
  });

  it('reports conflicts with later edits of the user, and changes nothing', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    await landAll([EDIT], place);
    fs.writeFileSync(join(place.source, 'd/a'), '3\n');
    const result = await undoLanding(place.context);
    expect(result.kind === 'conflicts' && result.conflicts).toMatchObject([
      { path: 'd/a', reason: 'content', ours: file('3\n'), theirs: file('1\n') },
    ]);
    expect(readTree(place.source)['d/a']).toBe('644 3\n');
  });

  it('treats names of properties like other names', async () => {
    const place = prepared({ 'constructor/a': file('1\n') });
    fs.chmodSync(join(place.source, 'constructor'), 0o700);
    const before = readTree(place.source);
    await landAll(
      [
        {
          path: '__proto__/valueOf/a',
          from: 'constructor/a',
          before: file('1\n'),
          after: file('2\n'),
        },
        { path: 'toString', before: null, after: file('new') },
      ],
      place,
    );
    expect(Object.keys(readTree(place.source))).toEqual([
      '__proto__',
      '__proto__/valueOf',
      '__proto__/valueOf/a',
      'toString',
    ]);
    await undoLanding(place.context);
    expect(readTree(place.source)).toEqual(before);
  });

  it('undoes the landings one after the other, the newest first', async () => {
    const place = prepared({ a: file('1') });
    await landAll([{ path: 'a', before: file('1'), after: file('2') }], place);
    await landAll([{ path: 'a', before: file('2'), after: file('3') }], place);
    const seen: unknown[] = [];
    for (let count = 0; count < 2; count += 1) {
      await undoLanding(place.context);
      seen.push(readTree(place.source)['a']);
    }
    expect(seen).toEqual(['644 2', '644 1']);
  });
});

/** A repository in memory. `fail` lets the change to the state after the landing fail. */
function memoryGit(state: { ref: string | null }, fail = false): GitPort {
  return {
    bringTo: async (side, _source, { ref }) => {
      if (side === 'after' && fail) throw new MusterError('CONFLICT', 'refs/heads/main has moved');
      state.ref = ref?.[side] ?? null;
      return [];
    },
    findUndoable: async (_source, change) => ({ change, left: [] }),
  };
}

const GIT: GitChange = { index: [], ref: { name: 'refs/heads/main', before: 'old', after: 'new' } };

describe('the part of git', () => {
  it('follows the files, and is undone with them', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    const state: { ref: string | null } = { ref: 'old' };
    const context = { ...place.context, git: memoryGit(state) };
    await land(plan([EDIT], place.source), context, { git: GIT });
    expect(state.ref).toBe('new');
    await undoLanding(context);
    expect(state.ref).toBe('old');
  });

  it('takes the files back when it fails', async () => {
    const place = prepared({ 'd/a': file('1\n') });
    const state: { ref: string | null } = { ref: 'other' };
    const context = { ...place.context, git: memoryGit(state, true) };
    const error = await failureOf(land(plan([EDIT], place.source), context, { git: GIT }));
    expect(error.message).toBe('refs/heads/main has moved. Everything is as before.');
    expect(readTree(place.source)['d/a']).toBe('644 1\n');
  });
});

describe('recoverLanding', () => {
  /** Leaves a landing unfinished, as if the process had died after the files were written. */
  async function interrupted(): Promise<Place> {
    const place = prepared();
    const stop = () => Promise.reject(new MusterError('CONFLICT', 'stop'));
    const git: GitPort = { bringTo: stop, findUndoable: stop };
    await failureOf(land(plan(DIFFERENCES, place.source), { ...place.context, git }, { git: GIT }));
    return { ...place, context: { ...place.context, git: memoryGit({ ref: 'old' }) } };
  }

  it('leaves and names what somebody else has changed meanwhile, and keeps the earlier contents', async () => {
    const deep = ['gone/deep/a.txt', 'gone/deep/b.txt'];
    const lefts = { continue: ['edited.txt'], abort: ['edited.txt', ...deep] } as const;
    for (const action of ['continue', 'abort'] as const) {
      const place = await interrupted();
      const { source, context } = place;
      fs.writeFileSync(join(source, 'edited.txt'), 'by the user');
      fs.rmSync(join(source, 'gone/deep'), { recursive: true, force: true });
      fs.writeFileSync(join(source, 'gone/deep'), 'a file now');
      const result = await recoverLanding(action, context);
      expect(result.left).toEqual(lefts[action]);
      expect(readTree(source)).toMatchObject({
        'edited.txt': '644 by the user',
        'gone/deep': '644 a file now',
        'script.sh': `${action === 'continue' ? 755 : 644} #!/bin/sh\n`,
      });
      const [name = ''] = fs.readdirSync(join(context.directory, 'landings'));
      const kept = join(context.directory, 'landings', name);
      expect(fs.readFileSync(join(kept, 'contents'), 'utf8')).toContain('two\nthree\nfour\nFIVE\n');
      if (result.kind === 'aborted') expect(result.keptAt).toBe(kept);
      expect(listUnfinishedLandings(dirname(context.directory))).toEqual([]);
    }
  });

  it('says when there is nothing to recover', async () => {
    const { context } = createPlace();
    expect((await failureOf(recoverLanding('abort', context))).message).toBe(
      `${context.directory}: no landing is unfinished, so there is nothing to abort`,
    );
  });

  it('does not touch a journal that it can not read', async () => {
    const { context, source } = await interrupted();
    const journal = join(context.directory, 'landing/journal.json');
    fs.writeFileSync(journal, '{"version":2}');
    const before = readTree(source);
    const error = await failureOf(recoverLanding('continue', context));
    expect(error.message).toContain(
      `${journal} is no journal of a landing that this version can read`,
    );
    expect(readTree(source)).toEqual(before);
  });
});
