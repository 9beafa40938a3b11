import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { CodeAnswer, RenamePlan } from '../../../src/protocol/languages.ts';
import type { CodePort, ToolContext } from '../../../src/protocol/tool.ts';
import { codeTool } from '../../../src/tools/code/code.ts';
import { makeWorkspace } from '../workspace.ts';

it('takes at most 515 bytes of a request', () => {
  const { name, description, inputSchema } = codeTool;
  const listed = JSON.stringify({ name, description, input_schema: inputSchema });
  expect(Buffer.byteLength(listed)).toBeLessThanOrEqual(515);
});

describe('the arguments', () => {
  it.each<[JsonObject, string | null]>([
    [{ action: 'definition', file_path: 'a', symbol: 's' }, null],
    [{ operation: 'references', path: 'a', name: 's', line: 3 }, null],
    [{ action: 'symbols', file_path: 'a' }, null],
    [{ action: 'symbols', query: 's' }, null],
    [{ action: 'symbols' }, 'symbol: is missing; symbols needs it'],
    [{ action: 'definition', symbol: 's' }, 'file_path: is missing; definition needs it'],
    [{ action: 'diagnostics' }, 'file_path: is missing; diagnostics needs it'],
    [{ action: 'rename', file_path: 'a', symbol: 's' }, 'new_name: is missing; rename needs it'],
  ])('%j', (input, issue) => {
    const parsed = codeTool.parse(input);
    expect(parsed.ok ? null : parsed.issues).toEqual(issue === null ? null : [issue]);
  });
});

function createPort(answer: CodeAnswer, plan?: RenamePlan): CodePort {
  return {
    answer: () => Promise.resolve(answer),
    listProblems: () => Promise.resolve({ ok: true, text: 'No problems (x).' }),
    planRename: () =>
      Promise.resolve(plan ?? { ok: false, error: 'NOT_FOUND', problem: 'Nothing to rename.' }),
  };
}

describe('places', () => {
  it('are shown with their lines, without the files that rules withhold', async () => {
    const { context, write, path } = makeWorkspace();
    write('a.ts', 'one\n  two\n');
    write('secret/b.ts', 'hidden\n');
    write('.env', 'KEY=x\n');
    const place = (name: string, line: number, label = '') => ({
      path: path(name),
      line,
      label,
      depth: 0,
    });
    const places = [
      place('a.ts', 2),
      place('a.ts', 1, 'one (function)'),
      place('secret/b.ts', 1),
      place('.env', 1),
      { ...place('a.ts', 9), path: '/usr/lib/x.d.ts' },
    ];
    const withRules: ToolContext = {
      ...context,
      code: createPort({ ok: true, places, server: 'x' }),
      excludedPathsBelow: () => (each) =>
        each.startsWith('secret/') ? 'deny rule `Read(secret/**)`' : undefined,
    };
    const parsed = codeTool.parse({ action: 'references', file_path: 'a.ts', symbol: 'two' });
    const input = parsed.ok ? parsed.input : null;
    expect(await codeTool.run(input, withRules)).toEqual({
      text: `a.ts:2  two
a.ts:1  one (function)
.env:1
/usr/lib/x.d.ts:9
[1 place left out: deny rule \`Read(secret/**)\`]`,
    });
  });

  it('in other roots are left out by the rules for these', async () => {
    const { context, write, path } = makeWorkspace();
    write('part/a.ts', 'one\n');
    write('other/b.ts', 'two\n');
    write('other/secret/c.ts', 'three\n');
    const places = ['part/a.ts', 'other/b.ts', 'other/secret/c.ts'].map((name) => {
      return { path: path(name), line: 1, label: '', depth: 0 };
    });
    const inPart: ToolContext = {
      ...context,
      cwd: path('part'),
      roots: [path('part'), path('other')],
      code: createPort({ ok: true, places, server: 'x' }),
      excludedPathsBelow: ({ real }) =>
        real === path('other')
          ? (each) => (each.startsWith('secret/') ? 'deny rule `Read(secret/**)`' : undefined)
          : null,
    };
    const parsed = codeTool.parse({ action: 'references', file_path: 'a.ts', symbol: 'one' });
    const { text } = await codeTool.run(parsed.ok ? parsed.input : null, inPart);
    expect(text).toBe(`a.ts:1  one
${path('other/b.ts')}:1  two
[1 place left out: deny rule \`Read(secret/**)\`]`);
  });

  it('are counted beyond a limit', async () => {
    const { context, path, write } = makeWorkspace();
    write('a.ts', '');
    const place = { path: path('a.ts'), line: 1, label: 'x (class)', depth: 0 };
    const answer = {
      ok: true,
      places: Array.from({ length: 70 }, () => place),
      server: 'x',
    } as const;
    const { text } = await codeTool.run(
      { action: 'symbols', file_path: 'a.ts' },
      { ...context, code: createPort(answer) },
    );
    expect(text.split('\n')).toHaveLength(61);
    expect(text).toMatch(/\[10 places more\]$/);
  });
});

describe('a rename', () => {
  const INPUT = { action: 'rename', file_path: 'a.ts', symbol: 'old', new_name: 'new' };

  async function plan(context: ToolContext, files: readonly string[]) {
    const port = createPort(
      { ok: true, places: [], server: 'x' },
      {
        ok: true,
        files: files.map((path) => ({ path, before: 'old()\n', after: 'new()\n' })),
      },
    );
    const planned = await codeTool.changePlan?.make(INPUT, { ...context, code: port });
    if (planned?.ok !== true) throw new Error('not planned');
    return planned;
  }

  it('is an edit of all its files, which shows the changed lines', async () => {
    const { context, write, path } = makeWorkspace();
    const files = [write('a.ts', 'old()\n'), write('b.ts', 'old()\n')];
    const { tool, input, access } = await plan(context, files);
    expect({ kind: tool.kind, name: tool.name, writes: access.writes }).toEqual({
      kind: 'edit',
      name: 'Code',
      writes: files,
    });
    expect(tool.proposes?.(input, { cwd: context.cwd })).toEqual(
      files.map((each) => ({ path: each, before: 'old()', after: 'new()', everywhere: false })),
    );
    const { text, facts } = await tool.run(input, context);
    expect(text).toBe('Renamed old to new in 2 files: a.ts, b.ts.');
    expect(facts?.changed?.map((change) => [change.path, change.unread])).toEqual(
      files.map((each) => [each, true]),
    );
    expect(files.map((each) => readFileSync(each, 'utf8'))).toEqual(['new()\n', 'new()\n']);
    expect(path('a.ts')).toBe(files[0]);
  });

  it('changes nothing if one of its files has changed since it was planned', async () => {
    const { context, write } = makeWorkspace();
    const files = [write('a.ts', 'old()\n'), write('b.ts', 'old()\n')];
    const { tool, input } = await plan(context, files);
    write('b.ts', 'other\n');
    expect(await tool.run(input, context)).toMatchObject({
      error: 'CONFLICT',
      text: expect.stringContaining('b.ts was changed while the rename was planned'),
    });
    expect(readFileSync(files[0] ?? '', 'utf8')).toBe('old()\n');
  });
});
