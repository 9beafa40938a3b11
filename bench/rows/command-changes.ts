import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkspaceChanges } from '../../src/sys/files/changes/workspace-changes.ts';
import { spawnProcessGroup } from '../../src/sys/processes/process-group.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 60;
const DIRECTORIES = 400;
const FILES_PER_DIRECTORY = 25;

/** The time that finding the changes of a command adds to it in a workspace of 10,000 files. */
export const commandChanges: Row = {
  name: 'command-changes',
  async measure() {
    using fixture = new Fixture();
    const { workspace } = fixture;
    for (let directory = 0; directory < DIRECTORIES; directory += 1) {
      const path = join(workspace, `directory-${directory}`);
      mkdirSync(path);
      for (let file = 0; file < FILES_PER_DIRECTORY; file += 1) {
        writeFileSync(join(path, `file-${file}.txt`), `text of file ${file}\n`.repeat(20));
      }
    }
    const env = fixture.environment(fixture.newHome());
    const changes = new WorkspaceChanges({ excluded: [], now: Date.now });
    const startedAt = performance.now();
    await changes.prepare([workspace]);
    const firstMs = performance.now() - startedAt;
    const run = (command: string) => runShell(command, { cwd: workspace, env });
    const observe = async (command: string, expected: number): Promise<void> => {
      const observation = await changes.begin([workspace], () => Promise.resolve());
      await run(command);
      const found = await observation.end();
      if (found.changes.length !== expected) throw new Error(`${command}: not found`);
    };
    let count = 0;
    const { nothing, observedNothing, write, observedWrite } = await interleave(ROUNDS, {
      nothing: () => timed(() => run('true')),
      observedNothing: () => timed(() => observe('true', 0)),
      write: () => timed(() => run('echo text > directory-7/new.txt')),
      observedWrite: () =>
        timed(() => observe(`echo ${(count += 1)} more > directory-7/file-3.txt`, 1)),
    });
    changes.close();
    const bound = { kind: 'difference', max: 5, goal: 2 } as const;
    return [
      {
        title: 'a command, with its changes found among 10,000 files',
        unit: 'ms',
        samples: observedNothing,
        reference: { title: 'the same command without that', samples: nothing },
        bound,
        notes: [`looking at all files, once per process: ${firstMs.toFixed(0)} ms`],
      },
      {
        title: 'a command that changes a file, with its change found',
        unit: 'ms',
        samples: observedWrite,
        reference: { title: 'the same command without that', samples: write },
        bound,
      },
    ];
  },
};

async function runShell(
  command: string,
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<void> {
  const group = spawnProcessGroup('/bin/bash', ['--noprofile', '--norc', '-c', command], options);
  group.stdout.resume();
  group.stderr.resume();
  const { code } = await group.exited;
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
