import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json.ts';
import type { CellEdit } from '../../../src/tools/edit/apply-edit.ts';
import { editNotebook } from '../../../src/tools/notebook/edit-notebook.ts';
import { parseNotebook } from '../../../src/tools/notebook/notebook.ts';
import { makeWorkspace, tool, type Workspace } from '../workspace.ts';
import { code, LAYOUTS, markdown, notebook, THREE_CELLS } from './notebooks.ts';

const edited = (text: string, edit: Partial<CellEdit>): string => {
  const found = parseNotebook(text);
  if (found === null) throw new Error('no notebook');
  const result = editNotebook(found, { old_string: '', new_string: '', ...edit });
  if (!result.ok) throw new Error(result.problem);
  return result.text;
};

const problem = (edit: Partial<CellEdit>): string => {
  const found = parseNotebook(JSON.stringify(THREE_CELLS));
  const result = found && editNotebook(found, { old_string: '', new_string: '', ...edit });
  return result?.ok === false ? result.problem : 'none';
};

/** Changes the list of cells of a notebook. */
function withCells(change: (cells: JsonObject[]) => JsonValue[]): JsonObject {
  const { cells } = THREE_CELLS;
  const list = Array.isArray(cells) ? cells.filter(isJsonObject) : [];
  return { ...THREE_CELLS, cells: change(list) };
}

describe.each(LAYOUTS)('a notebook laid out with %s', (_, print) => {
  const text = print(THREE_CELLS);
  const replaced = (at: number, change: JsonObject): string =>
    print(
      withCells((cells) =>
        cells.map((cell, index) => (index === at ? { ...cell, ...change } : cell)),
      ),
    );

  test('is changed in one cell and unchanged elsewhere', () => {
    expect(edited(text, { old_string: 'x = 1', new_string: 'x = 2\ny = 3' })).toBe(
      replaced(1, { source: ['import os\n', 'x = 2\n', 'y = 3\n', 'print(x)'] }),
    );
    expect(edited(text, { cell_id: 'plot', old_string: 'plot', new_string: 'show' })).toBe(
      replaced(2, { source: 'show(x)' }),
    );
    expect(edited(text, { cell_id: 'intro', new_string: 'Neu\n' })).toBe(
      replaced(0, { source: ['Neu\n'] }),
    );
    expect(edited(text, { cell_id: 'intro', new_string: '' })).toBe(replaced(0, { source: [] }));
  });

  test('gets a new cell at the start, in between and at the end', () => {
    const id = /"id": ?"([0-9a-f]{8})"/;
    const fresh = { cell_type: 'markdown', id: '', metadata: {}, source: ['a\n', 'b'] };
    const places: readonly (readonly [string | undefined, number])[] = [
      [undefined, 0],
      ['load', 2],
      ['3', 3],
    ];
    for (const [cell_id, at] of places) {
      const made = edited(text, {
        edit_mode: 'insert',
        cell_type: 'markdown',
        cell_id,
        new_string: 'a\nb',
      });
      const cell = { ...fresh, id: id.exec(made)?.[1] ?? '' };
      expect(made).toBe(print(withCells((cells) => cells.toSpliced(at, 0, cell))));
    }
    const made = edited(text, { edit_mode: 'insert', cell_id: 'plot', new_string: 'x' });
    const cell = {
      cell_type: 'code',
      execution_count: null,
      id: id.exec(made)?.[1] ?? '',
      metadata: {},
      outputs: [],
      source: ['x'],
    };
    expect(made).toBe(print(withCells((cells) => [...cells, cell])));
  });

  test('loses a cell at the start, in between and at the end', () => {
    for (const [index, cell_id] of ['intro', 'load', 'plot'].entries()) {
      expect(edited(text, { edit_mode: 'delete', cell_id })).toBe(
        print(withCells((cells) => cells.toSpliced(index, 1))),
      );
    }
    const alone = print(notebook([markdown('a', ['x'])]));
    expect(edited(alone, { edit_mode: 'delete', cell_id: 'a' })).toBe(print(notebook([])));
  });

  test('gets its first cell', () => {
    const made = edited(print(notebook([])), {
      edit_mode: 'insert',
      cell_type: 'raw',
      new_string: 'x',
    });
    const id = /"id": ?"([0-9a-f]{8})"/.exec(made)?.[1] ?? '';
    expect(made).toBe(print(notebook([{ cell_type: 'raw', id, metadata: {}, source: ['x'] }])));
  });

  test('gets a cell of another type with the members of that type', () => {
    expect(edited(text, { cell_id: 'load', cell_type: 'markdown', new_string: 'text' })).toBe(
      print(
        withCells((cells) =>
          cells.with(1, { cell_type: 'markdown', id: 'load', metadata: {}, source: ['text'] }),
        ),
      ),
    );
    const made = edited(text, { cell_id: 'intro', cell_type: 'code', new_string: '1' });
    expect(made).toBe(
      print(
        withCells((cells) =>
          cells.with(0, {
            cell_type: 'code',
            execution_count: null,
            id: 'intro',
            metadata: { tags: ['a'] },
            outputs: [],
            source: ['1'],
          }),
        ),
      ),
    );
  });

  test('is byte for byte the same after a change and its opposite', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', '\n', '"', '\\', 'ü', '😀', '\t', '{', ']'),
    });
    fc.assert(
      fc.property(line, line, (before, after) => {
        fc.pre(before !== after);
        const start = print(
          notebook([code('a', before.match(/[^\n]*\n|[^\n]+/g) ?? []), markdown('b', 'x')]),
        );
        const there = edited(start, { cell_id: 'a', new_string: after });
        expect(edited(there, { cell_id: 'a', new_string: before })).toBe(start);
      }),
      { numRuns: 50 },
    );
  });
});

test('numbers, escapes and the order of keys outside the edit stay as they were written', () => {
  const odd =
    '{"nbformat_minor":5,"cells":[{"source":"x","metadata":{"b":1.0,"a":1e400,"10":0,"2":1},"cell_type":"raw","id":"a"}],"nbformat":4,"metadata":{"x":"\\u00fc"}}';
  expect(edited(odd, { cell_id: 'a', new_string: 'ö' })).toBe(
    odd.replace('"x",', String.raw`"\u00f6",`),
  );
  expect(edited(odd, { cell_id: 'a', cell_type: 'markdown', new_string: 'y' })).toContain(
    '"metadata":{"b":1.0,"a":1e400,"10":0,"2":1}',
  );
});

test('a notebook before 4.5 has no ids: cells are named by number', () => {
  const old = JSON.stringify({
    ...THREE_CELLS,
    nbformat_minor: 4,
    cells: [{ cell_type: 'raw', metadata: {}, source: ['a'] }],
  });
  expect(edited(old, { cell_id: '1', edit_mode: 'insert', new_string: 'b' })).not.toContain('"id"');
  expect(edited(old, { cell_id: 'cell-1', new_string: 'b' })).toContain('"source":["b"]');
});

test.each<[Partial<CellEdit>, string]>([
  [
    { cell_id: 'gone', new_string: 'x' },
    'cell_id: there is no cell "gone"; valid: a number from 1 to 3, or an id (intro, load, plot).',
  ],
  [
    { cell_id: '4', new_string: 'x' },
    'cell_id: there is no cell "4"; valid: a number from 1 to 3, or an id (intro, load, plot).',
  ],
  [
    { cell_id: '0', edit_mode: 'delete' },
    'cell_id: there is no cell "0"; valid: a number from 1 to 3, or an id (intro, load, plot).',
  ],
  [{ edit_mode: 'delete' }, 'cell_id: is missing; it must name the cell to delete.'],
  [
    { edit_mode: 'delete', cell_id: 'plot', new_string: 'x' },
    'edit_mode delete removes the full cell: leave old_string and new_string out.',
  ],
  [
    { edit_mode: 'insert', old_string: 'x' },
    'old_string: a new cell replaces no text; leave it out.',
  ],
  [
    { new_string: 'x' },
    'old_string is empty: give the text to replace, or cell_id for a full cell.',
  ],
  [
    { cell_id: 'plot', new_string: 'plot(x)' },
    'cell 3 (id plot) has this source already: nothing to change.',
  ],
  [
    { cell_id: 'plot', cell_type: 'raw', old_string: 'plot', new_string: 'x' },
    'cell_type: can only change when the full cell is replaced; leave old_string out.',
  ],
  [
    { old_string: 'x', new_string: 'y' },
    'old_string occurs 4 times, in cell 1 (id intro) line 2; cell 2 (id load) lines 2, 3; cell 3 (id plot) line 1: give cell_id, add lines around it until it is unique, or set replace_all.',
  ],
  [
    { old_string: 'x', new_string: 'y', expected_replacements: 3 },
    'old_string occurs 4 times, in cell 1 (id intro) line 2; cell 2 (id load) lines 2, 3; cell 3 (id plot) line 1, and expected_replacements is 3.',
  ],
  [
    { old_string: 'nowhere', new_string: 'y' },
    'old_string was not found in any cell. Edit only changes the sources of cells, as Read shows them; use Bash for the rest of the file.',
  ],
  [
    { old_string: 'nbformat', new_string: 'y', cell_id: 'plot' },
    'old_string was not found in cell 3 (id plot). Edit only changes the sources of cells, as Read shows them; use Bash for the rest of the file.',
  ],
])('%j is refused', (edit, said) => {
  expect(problem(edit)).toBe(said);
});

test('a near miss names the cell and the line in it', () => {
  expect(problem({ old_string: 'Some "text"', new_string: 'x' })).toBe(
    'cell 1 (id intro): old_string was not found; line 2 would match except for typographic quotes. At line 2, column 6 the file has “ (U+201C), and old_string has " (U+0022). Copy it exactly as it stands in the file:\n2\tSome “text”',
  );
});

test.each([
  ['not JSON', '{'],
  ['no list of cells', '{"worksheets":[]}'],
  ['cells that are not cells', '{"cells":[1]}'],
  ['a source that is not text', '{"cells":[{"cell_type":"raw","source":[1]}]}'],
])('%s is not a notebook', (_, text) => {
  expect(parseNotebook(text)).toBeNull();
});

describe('the tools', () => {
  async function opened(name = 'a.ipynb'): Promise<Workspace & { readonly file: string }> {
    const at = makeWorkspace();
    const file = at.write(name, `${JSON.stringify(THREE_CELLS, null, 1)}\n`);
    await at.call('Read', { file_path: name });
    return { ...at, file };
  }

  test('Read shows cells with number, id and source, outputs shortened, images named', async () => {
    const at = await opened();
    expect((await at.call('Read', { file_path: 'a.ipynb' })).text).toBe(
      [
        '[notebook with 3 cells, python]',
        '[cell 1: markdown, id intro]',
        '# Title',
        'Some “text”',
        '[cell 2: code, id load, run 3]',
        'import os',
        'x = 1',
        'print(x)',
        '[output]',
        '1',
        '[cell 3: code, id plot, run 3]',
        'plot(x)',
        '[output]',
        '<Figure>',
        '[output: image/png, 300 bytes, left out]',
        '[Edit replaces text in a cell. With cell_id and without old_string it replaces the full cell, with edit_mode "insert" it makes one after that cell (cell_type: code, markdown, raw), with "delete" it removes the cell.]',
      ].join('\n'),
    );
    const part = await at.call('Read', { file_path: 'a.ipynb', offset: 2, limit: 1 });
    expect(part.text).toMatch(
      /^\[notebook with 3 cells, python\]\n\[cell 2: [^]*\n\[up to cell 2 of 3; read on with offset 3\]\n\[Edit/,
    );
    const one = await at.call('Read', { notebook_path: 'a.ipynb', cell_id: 'plot' });
    expect(one.text).toMatch(
      /^\[notebook with 3 cells, python\]\n\[cell 3: code, id plot, run 3\]\nplot/,
    );
    expect((await at.call('Read', { file_path: 'a.ipynb', offset: 9 })).text).toBe(
      '[the notebook has only 3 cells: nothing at offset 9]',
    );
    // The file exists, so no other file is suggested.
    expect(await at.call('Read', { file_path: 'a.ipynb', cell_id: 'x' })).toMatchObject({
      error: 'INVALID_PARAM',
      text: expect.not.stringContaining('Near it'),
    });
  });

  test('Read shortens outputs and shows errors without their colours', async () => {
    const at = makeWorkspace();
    const outputs = [
      { output_type: 'stream', name: 'stdout', text: 'y'.repeat(5000) },
      {
        output_type: 'error',
        ename: 'NameError',
        evalue: 'x',
        traceback: ['\u001B[31mred\u001B[0m', 'line'],
      },
    ];
    at.write('a.ipynb', JSON.stringify(notebook([code('a', 'x', outputs)])));
    const { text } = await at.call('Read', { file_path: 'a.ipynb' });
    expect(text).toContain(
      `[output]\n${'y'.repeat(1000)}\n[… 3000 characters of output left out …]\n${'y'.repeat(1000)}\n`,
    );
    expect(text).toContain('[error: NameError: x]\nred\nline\n');
  });

  test('Read keeps its limit and says how to read on', async () => {
    const at = makeWorkspace();
    const cells = Array.from({ length: 50 }, (_, index) => markdown(`c${index}`, 'z'.repeat(200)));
    at.write('a.ipynb', JSON.stringify(notebook(cells)));
    const caps = { ...at.context.caps, readBytes: 3000 };
    const seen: string[] = [];
    for (let offset: number | null = 1; offset !== null;) {
      const { text } = await at.call('Read', { file_path: 'a.ipynb', offset }, { caps });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
      seen.push(...[...text.matchAll(/id (c\d+)/g)].map(([, id = '']) => id));
      const next: string | undefined = /read on with offset (\d+)/.exec(text)?.[1];
      offset = next === undefined ? null : Number(next);
    }
    expect(seen).toEqual(cells.map(({ id }) => id));
  });

  test.each<[JsonObject, string]>([
    [
      { notebook_path: 'a.ipynb', cell_id: 'load', new_source: 'x = 5' },
      'Edited a.ipynb: replaced cell 2 (id load).',
    ],
    [
      {
        notebook_path: 'a.ipynb',
        cell_id: 'load',
        new_source: 'Text',
        cell_type: 'markdown',
        edit_mode: 'replace',
      },
      'Edited a.ipynb: replaced cell 2 (id load) by a markdown cell.',
    ],
    [
      { notebook_path: 'a.ipynb', cell_id: 'load', edit_mode: 'delete', new_source: '' },
      'Edited a.ipynb: deleted cell 2 (id load).',
    ],
    [
      { notebook_path: 'a.ipynb', cell_id: 'load', edit_mode: 'delete' },
      'Edited a.ipynb: deleted cell 2 (id load).',
    ],
    [
      { file_path: 'a.ipynb', old_string: 'x = 1', new_string: 'x = 2' },
      'Edited a.ipynb: 1 replacement in cell 2 (id load) at line 2.',
    ],
    [
      { file_path: 'a.ipynb', old_string: 'x', new_string: 'y', replace_all: true, cell_id: '2' },
      'Edited a.ipynb: 2 replacements in cell 2 (id load) at lines 2, 3.',
    ],
  ])('Edit %j', async (input, text) => {
    const at = await opened();
    expect((await at.call('Edit', input)).text).toBe(text);
    expect(JSON.parse(readFileSync(at.file, 'utf8'))).toMatchObject({ nbformat: 4 });
    expect(readFileSync(at.file, 'utf8')).toMatch(/^\{\n "cells": \[\n {2}\{[^]*\n\}\n$/);
  });

  test('Edit inserts a cell and names it', async () => {
    const at = await opened();
    const input = {
      notebook_path: 'a.ipynb',
      cell_id: 'intro',
      new_source: 'y = 1',
      cell_type: 'code',
      edit_mode: 'insert',
    };
    const { text } = await at.call('Edit', input);
    const id = /^Edited a\.ipynb: inserted code cell 2 \(id (\w{8})\)\.$/.exec(text)?.[1];
    expect((await at.call('Read', { file_path: 'a.ipynb' })).text).toContain(
      `[cell 2: code, id ${id}]\ny = 1\n[cell 3:`,
    );
  });

  test('MultiEdit applies all changes of cells or none', async () => {
    const at = await opened();
    const edit = (last: string) => ({
      file_path: 'a.ipynb',
      edits: [
        { old_string: '# Title', new_string: '# Name' },
        { old_string: last, new_string: 'draw(x)', cell_id: 'plot' },
      ],
    });
    const before = readFileSync(at.file, 'utf8');
    expect(await at.call('MultiEdit', edit('gone'))).toMatchObject({ error: 'INVALID_PARAM' });
    expect(readFileSync(at.file, 'utf8')).toBe(before);
    expect((await at.call('MultiEdit', edit('plot(x)'))).text).toBe(
      'Edited a.ipynb: 1 replacement in cell 1 (id intro) at line 1; 1 replacement in cell 3 (id plot) at line 1.',
    );
    expect(readFileSync(at.file, 'utf8')).toBe(
      before.replace('# Title', '# Name').replace('plot(x)', 'draw(x)'),
    );
  });

  test('a notebook that was changed since must be read again', async () => {
    const at = await opened();
    at.write('a.ipynb', JSON.stringify(THREE_CELLS));
    const edit = { notebook_path: 'a.ipynb', cell_id: 'load', new_source: 'x' };
    expect(await at.call('Edit', edit)).toMatchObject({ error: 'CONFLICT' });
  });

  test('a file that is not a notebook has no cells', async () => {
    const at = makeWorkspace();
    at.write('a.txt', 'one\n');
    at.write('b.ipynb', 'one\n');
    for (const name of ['a.txt', 'b.ipynb']) {
      expect((await at.call('Read', { file_path: name })).text).toBe('1\tone');
      expect(await at.call('Read', { file_path: name, cell_id: '1' })).toEqual({
        text: `cell_id: ${name} is not a notebook`,
        error: 'INVALID_PARAM',
      });
      expect((await at.call('Edit', { file_path: name, cell_id: '1', new_source: 'x' })).text).toBe(
        `${name}: cell_id, cell_type and edit_mode are for notebooks (.ipynb of nbformat 4), and this file is not one. Nothing was changed.`,
      );
      const plain = { file_path: name, old_string: 'one', new_string: 'two' };
      expect((await at.call('Edit', plain)).text).toBe(`Edited ${name}: 1 replacement at line 1.`);
    }
  });

  test('a person who is asked sees which cell changes', () => {
    const proposed = (input: JsonObject) => {
      const parsed = tool('Edit').parse({ notebook_path: 'a.ipynb', ...input });
      return parsed.ok ? tool('Edit').proposes?.(parsed.input, { cwd: '/w' }) : parsed.issues;
    };
    const edit = { path: '/w/a.ipynb', everywhere: false };
    expect(proposed({ cell_id: 'b', new_source: 'x' })).toEqual([
      { ...edit, before: '[all of cell b]', after: 'x' },
    ]);
    expect(proposed({ cell_id: 'b', edit_mode: 'delete' })).toEqual([
      { ...edit, before: '[all of cell b]', after: '' },
    ]);
    expect(proposed({ edit_mode: 'insert', new_source: 'x' })).toEqual([
      {
        ...edit,
        before: '[before the first cell]',
        after: '[before the first cell]\n[new code cell]\nx',
      },
    ]);
  });
});
