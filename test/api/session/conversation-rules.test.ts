import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Session, RuleChange } from '../../../src/api/index.ts';
import { openSession } from '../../../src/api/open-session.ts';
import { startFakeModel, type FakeModel } from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function open(): Promise<{ readonly again: () => Promise<Session>; readonly home: string }> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-test-')));
  opened.push(() => rmSync(home, { recursive: true, force: true }));
  const model: FakeModel = await startFakeModel({ script: () => ({ text: 'done' }) });
  opened.push(() => model.close().then(() => expectNoViolations(model)));
  mkdirSync(join(home, '.config/muster'), { recursive: true });
  mkdirSync(join(home, 'project'));
  writeFileSync(
    join(home, '.config/muster/config.toml'),
    '[permissions]\nallow = ["Bash(make)"]\ndeny = ["WebFetch"]\n',
  );
  const again = async (): Promise<Session> => {
    const made = await openSession({
      cwd: join(home, 'project'),
      dataDir: join(home, 'data'),
      environment: { HOME: home, ...model.env('anthropic'), MUSTER_PERMISSIONS_ASK: 'Edit' },
    });
    opened.push(() => made.close());
    return made;
  };
  return { again, home };
}

const add = (
  list: RuleChange['list'],
  rule: string,
  scope: RuleChange['scope'] = 'task',
): RuleChange => ({ kind: 'add', list, rule, scope });

const listed = async (muster: Session, id: string | null, initial: readonly RuleChange[] = []) =>
  (await muster.listRules(id, initial)).rules.map(
    ({ list, text, origin }) => `${list} ${text} ${origin}`,
  );

describe('the rules of a conversation', () => {
  it('are listed with their origins, before it begins and in another process afterwards', async () => {
    const { again, home } = await open();
    const muster = await again();
    await muster.changeRule(null, add('allow', 'Bash(npm test)', 'project'));
    await muster.changeRule(null, add('allow', 'Bash(ls)', 'user'));
    const initial = [add('deny', 'Bash(rm:*)'), add('allow', 'Bash(cat x)')];
    const expected = [
      'deny WebFetch file',
      'deny Bash(rm:*) conversation',
      'ask Edit variable',
      'allow Bash(cat x) conversation',
      'allow Bash(npm test) project',
      'allow Bash(ls) user',
      'allow Bash(make) file',
    ];
    expect((await listed(muster, null, initial)).toSorted()).toEqual(expected.toSorted());
    const run = muster.start({ prompt: 'go', rules: initial });
    expect((await listed(muster, run.id)).toSorted()).toEqual(expected.toSorted());
    await run.result;
    expect((await listed(muster, run.id)).toSorted()).toEqual(expected.toSorted());
    const { rules } = await muster.listRules(run.id);
    expect(rules.find(({ text }) => text === 'Bash(make)')?.where).toBe(
      `${join(home, '.config/muster/config.toml')}:2`,
    );
    await muster.changeRule(run.id, { ...add('deny', 'Bash(rm:*)'), kind: 'remove' });
    await muster.changeRule(run.id, { ...add('allow', 'Bash(ls)', 'user'), kind: 'remove' });
    await muster.close();
    const other = await again();
    const left = expected.filter((each) => !/rm:|\(ls\)/.test(each));
    expect((await listed(other, run.id)).toSorted()).toEqual(left.toSorted());
  });

  it('are not changed by a wrong rule, or by a scope that rules of this kind do not have', async () => {
    const { again } = await open();
    const muster = await again();
    for (const change of [
      add('deny', 'Bsh'),
      add('deny', 'Bash', 'project'),
      { ...add('allow', 'Bash(x)', 'user'), kind: 'remove' } as const,
    ]) {
      await expect(muster.changeRule(null, change)).rejects.toThrow();
    }
    await expect(muster.listRules(null, [add('deny', 'Bsh')])).rejects.toThrow('did you mean Bash');
    expect(await listed(muster, null)).toEqual([
      'deny WebFetch file',
      'ask Edit variable',
      'allow Bash(make) file',
    ]);
  });
});
