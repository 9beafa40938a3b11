import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createEditFeedback } from '../../../src/engine/calls/edit-feedback.ts';
import type { ContentChange, FileChangeCheck } from '../../../src/protocol/languages.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { ChangePort } from '../../../src/protocol/tool.ts';
import { hashContent } from '../../../src/sys/files/read-file.ts';
import { rights } from '../../policy/support.ts';
import { makeWorkspace, tool } from '../../tools/workspace.ts';

/** Runs a call with feedback as the engine does. Returns the output and the changes that were checked. */
async function runWithFeedback(
  workspace: ReturnType<typeof makeWorkspace>,
  [name, input]: readonly [string, JsonObject],
  check: Partial<FileChangeCheck> = {},
  changes?: ChangePort,
) {
  const checked: ContentChange[] = [];
  const { root } = workspace;
  const feedback = createEditFeedback(
    {
      home: '/home/user',
      languages: () =>
        Promise.resolve({
          beginChange: async (_, call) => {
            const runChecker = async () => (await call.observeChecker?.())?.end();
            await runChecker();
            return {
              format: () => Promise.resolve(null),
              findNewProblems: async ({ contents }) => {
                checked.push(...contents);
                await runChecker();
                return { problems: '', notes: [] };
              },
              ...check,
            };
          },
          answer: () => Promise.reject(new Error('not asked')),
          listProblems: () => Promise.reject(new Error('not asked')),
          planRename: () => Promise.reject(new Error('not asked')),
        }),
    },
    {
      spec: { cwd: root },
      permissions: { rights: { ...rights(), roots: [root] } },
    } as unknown as Parameters<typeof createEditFeedback>[1],
    { context: { ...workspace.context, ...(changes && { changes }) }, paths: [] },
  );
  if (feedback === null) throw new Error('no feedback');
  await feedback.begin();
  const parsed = tool(name).parse(input);
  if (!parsed.ok) throw new Error(parsed.issues.join('; '));
  const ran = await tool(name).run(parsed.input, feedback.context);
  const output = await feedback.addProblems(await feedback.format(ran));
  return { output, checked };
}

const WRITE = ['Write', { file_path: 'a.ts', content: 'x\n' }] as const;

it('a call without new problems has the result of its tool', async () => {
  const workspace = makeWorkspace();
  const { output, checked } = await runWithFeedback(workspace, WRITE);
  expect(output).toEqual({
    text: 'Created a.ts: 1 line.',
    facts: { changed: [expect.objectContaining({ before: null })] },
  });
  expect(checked).toEqual([{ path: workspace.path('a.ts'), before: null, after: 'x\n' }]);
});

it('the contents before and after an edit are checked, and new problems are outside text', async () => {
  const workspace = makeWorkspace();
  workspace.write('a.ts', 'old\n');
  await workspace.call('Read', { file_path: 'a.ts' });
  const changes: ContentChange[] = [];
  const edit = ['Edit', { file_path: 'a.ts', old_string: 'old', new_string: 'new' }] as const;
  const { output } = await runWithFeedback(workspace, edit, {
    findNewProblems: ({ contents }) => {
      changes.push(...contents);
      return Promise.resolve({ problems: 'New problems in a.ts (x):', notes: ['y is slow.'] });
    },
  });
  expect(changes).toEqual([{ path: workspace.path('a.ts'), before: 'old\n', after: 'new\n' }]);
  expect(output).toMatchObject({
    text: 'Edited a.ts: 1 replacement at line 1.\nNew problems in a.ts (x):\ny is slow.',
    hasOutsideText: true,
  });
});

it('a formatted file is known to the task with its final hash', async () => {
  const workspace = makeWorkspace();
  const { output, checked } = await runWithFeedback(workspace, WRITE, {
    format: ({ text }) => Promise.resolve({ by: 'fmt', text: `// formatted\n${text}` }),
  });
  const path = workspace.path('a.ts');
  const formatted = '// formatted\nx\n';
  expect(readFileSync(path, 'utf8')).toBe(formatted);
  expect(output.text).toBe('Created a.ts: 1 line.\na.ts was formatted by fmt: 1 line.');
  expect(output.facts?.changed).toEqual([{ path, before: null, after: hashContent(formatted) }]);
  expect(workspace.context.files.seen(path)).toBe(hashContent(formatted));
  expect(checked).toEqual([{ path, before: null, after: formatted }]);
});

it('a file that is changed while it is formatted stays as it is', async () => {
  const workspace = makeWorkspace();
  const path = workspace.path('a.ts');
  const { output } = await runWithFeedback(workspace, WRITE, {
    format: ({ text }) => {
      writeFileSync(path, 'of somebody else\n');
      return Promise.resolve({ by: 'fmt', text: `${text}// formatted\n` });
    },
  });
  expect(readFileSync(path, 'utf8')).toBe('of somebody else\n');
  expect(output.facts?.changed).toEqual([{ path, before: null, after: hashContent('x\n') }]);
});

it('a formatter that fails is named, and its text is quoted', async () => {
  const { output } = await runWithFeedback(makeWorkspace(), WRITE, {
    format: () => Promise.resolve({ by: 'fmt', problem: 'line 1:\n"x"' }),
  });
  expect(output.text).toBe(
    'Created a.ts: 1 line.\na.ts was not formatted by fmt: "line 1:\\n\\"x\\"".',
  );
});

it('what checkers change before and after an edit stands in its record', async () => {
  const workspace = makeWorkspace();
  const names = ['before.txt', 'after.txt'];
  const changes: ChangePort = {
    prepare: () => {},
    begin: () =>
      Promise.resolve({
        checkpoint: () => Promise.resolve(),
        end: () => {
          const path = names.shift() ?? '';
          const change = { path, before: null, after: 'h', byCommand: true } as const;
          const unlisted = [{ path: 'deps', reason: 'dependencies' } as const];
          return Promise.resolve({ changed: [change], unlisted });
        },
        cancel: () => {},
      }),
  };
  const { output } = await runWithFeedback(workspace, WRITE, {}, changes);
  const { changed = [], unlisted = [] } = output.facts ?? {};
  expect(changed.map(({ path, byCommand }) => [path, byCommand])).toEqual([
    [workspace.path('a.ts'), undefined],
    ['before.txt', true],
    ['after.txt', true],
  ]);
  expect(unlisted.map(({ path }) => path)).toEqual(['deps', 'deps']);
});

it('the record of a change is kept if the feedback breaks', async () => {
  const { output } = await runWithFeedback(makeWorkspace(), WRITE, {
    findNewProblems: () => Promise.reject(new Error('a defect')),
  });
  expect(output.facts?.changed).toHaveLength(1);
  expect(output.text).toBe('Created a.ts: 1 line.\nThe change could not be checked: "a defect".');
});
