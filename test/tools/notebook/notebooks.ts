import type { JsonObject, JsonValue } from '../../../src/base/json.ts';

/**
 * A small notebook as Jupyter writes it, with parts that an edit must keep: unusual numbers, escapes, the order of
 * keys.
 */
export function notebook(cells: readonly JsonObject[]): JsonObject {
  return {
    cells: [...cells],
    metadata: { kernelspec: { name: 'python3', language: 'python' }, '10': 1, '2': 'ü' },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

export function code(
  id: string,
  source: JsonValue,
  outputs: readonly JsonObject[] = [],
): JsonObject {
  return { cell_type: 'code', execution_count: 3, id, metadata: {}, outputs, source };
}

export function markdown(id: string, source: JsonValue): JsonObject {
  return { cell_type: 'markdown', id, metadata: { tags: ['a'] }, source };
}

export const THREE_CELLS = notebook([
  markdown('intro', ['# Title\n', 'Some “text”']),
  code(
    'load',
    ['import os\n', 'x = 1\n', 'print(x)'],
    [{ output_type: 'stream', name: 'stdout', text: ['1\n'] }],
  ),
  code('plot', 'plot(x)', [
    {
      output_type: 'display_data',
      data: { 'image/png': Buffer.alloc(300).toString('base64'), 'text/plain': ['<Figure>'] },
      metadata: {},
    },
  ]),
]);

/** The layouts in which notebooks are stored. */
export const LAYOUTS: readonly (readonly [string, (value: JsonValue) => string])[] = [
  ['one blank', (value) => `${JSON.stringify(value, null, 1)}\n`],
  ['two blanks, no end', (value) => JSON.stringify(value, null, 2)],
  ['tabs', (value) => `${JSON.stringify(value, null, '\t')}\n`],
  ['CRLF', (value) => `${JSON.stringify(value, null, 1).replaceAll('\n', '\r\n')}\r\n`],
  ['one line', (value) => JSON.stringify(value)],
  [
    'one line, spaced',
    (value) =>
      JSON.stringify(value)
        .replaceAll('":', '": ')
        .replaceAll(/,(?=["{])/g, ', '),
  ],
];
