import { expect, it } from 'vitest';
import { decide } from '../../src/policy/decide.ts';
import { explainRefusal } from '../../src/policy/explain-refusal.ts';
import { CONTEXT, edit, rights, ROOT } from './support.ts';

const WORKSPACE = { source: '/home/someone/repo', tree: ROOT };

it('names the counterpart of a path of the main checkout to a task in a worktree', () => {
  const own = { ...rights('acceptEdits'), workspace: WORKSPACE };
  const refused = decide(edit('/home/someone/repo/src/a.ts'), own, CONTEXT);
  expect(refused).toMatchObject({ verdict: 'ask', step: 'floor' });
  expect(explainRefusal(refused)).toBe(
    `Refused, nothing was done. "/home/someone/repo/src/a.ts" is outside the workspace roots. No rule or mode allows that; only a person can, for one call. Nobody is here to be asked. This task works in its own worktree, where that path is "${ROOT}/src/a.ts": use it.`,
  );
  const elsewhere = explainRefusal(decide(edit('/srv/other/a.ts'), own, CONTEXT));
  expect(elsewhere).toContain('--add-dir');
  expect(elsewhere).not.toContain('worktree');
});
