import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { agentText, Project } from './project.ts';

const CONFIG = '.muster/config.toml';
const AGENT = '.muster/agents/tester.md';

it('a postponed review stays postponed until a file changes, comes or goes', async () => {
  using project = new Project({
    [CONFIG]: '[permissions]\nallow = ["Bash(make)"]\n',
    [AGENT]: agentText('tester'),
  });
  const isPostponed = async (cwd = project.repo): Promise<boolean> => {
    const approvals = project.approvals(cwd);
    return approvals.postponedOn(await approvals.propose([])) !== null;
  };
  const postpone = async (): Promise<void> => {
    const approvals = project.approvals();
    approvals.postpone(await approvals.propose([]));
  };
  expect(await isPostponed()).toBe(false);
  await postpone();
  expect(await isPostponed()).toBe(true);
  // Nothing is trusted by it.
  expect((await project.approvals().list()).files.map(({ state }) => state)).toEqual([
    'new',
    'new',
  ]);
  project.write(CONFIG, '[permissions]\nallow = ["Bash"]\n');
  expect(await isPostponed()).toBe(false);
  await postpone();
  expect(await isPostponed()).toBe(true);
  project.write('.muster/agents/other.md', agentText('other'));
  expect(await isPostponed()).toBe(false);
  rmSync(join(project.repo, '.muster/agents/other.md'));
  expect(await isPostponed()).toBe(true);
  // A part of the files is trusted: what is left is another review.
  const approvals = project.approvals();
  approvals.approve(await approvals.propose([CONFIG]));
  expect(await isPostponed()).toBe(false);
});
