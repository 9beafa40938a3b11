import { describe, expect, it } from 'vitest';
import type { ItemRow } from '../../../../../src/api/index.ts';
import { reportText } from '../../../../../src/front/cli/commands/templates/table.ts';

const ROW: ItemRow = {
  index: 1,
  attempt: 1,
  item: 'a',
  status: 'completed',
  taskId: 'abcdefghijkl',
  model: 'anthropic/m',
  turns: 2,
  tokens: 1_234,
  costUsd: 0.01,
  durationMs: 1_500,
  result: 'first\nsecond',
  error: null,
  score: null,
  changes: null,
  warnings: [],
};

function csvOf(...changes: readonly Partial<ItemRow>[]): readonly string[] {
  const all: ItemRow[] = [];
  for (const change of changes) all.push({ ...ROW, ...change });
  const report = { id: 'r', template: 't', status: 'completed', rows: all } as const;
  return reportText(report, 'csv').split('\r\n').slice(1, -1);
}

describe('the results of a run', () => {
  it('are written in CSV as in RFC 4180', () => {
    expect(
      csvOf({}, { item: 'a,"b"\nc' }, { item: { x: 'y' }, costUsd: null, taskId: null }),
    ).toEqual([
      '1,a,completed,abcdefghijkl,2,1234,0.01,1500,first,,,1,anthropic/m,,,,,,false',
      '1,"a,""b""\nc",completed,abcdefghijkl,2,1234,0.01,1500,first,,,1,anthropic/m,,,,,,false',
      '1,"{""x"":""y""}",completed,,2,1234,,1500,first,,,1,anthropic/m,,,,,,false',
    ]);
  });

  it.each(['=1+1', '+1', '-1', '@x', '\t=1', '＝1', ' =1'])(
    'are never a formula of a spreadsheet: %j',
    (item) => {
      expect(csvOf({ item })[0]).toContain(`1,'${item},`);
    },
  );

  it('contain the warnings of the receipts in each format', () => {
    const row = { ...ROW, index: 3, warnings: ['tests were not run', '=a\nb'] };
    const report = { id: 'r', template: 't', status: 'completed', rows: [ROW, row] } as const;
    const lines = reportText(report, 'text').split('\n');
    expect(lines.slice(3)).toEqual(['! 3: tests were not run', '! 3: =a␊b', '']);
    expect(JSON.parse(reportText(report, 'json')).items).toMatchObject([
      { warnings: [] },
      { warnings: ['tests were not run', '=a\nb'] },
    ]);
    expect(csvOf(row)[0]).toMatch(/,first,,tests were not run; =a b,/);
    expect(csvOf({ warnings: ['=a'] })[0]).toMatch(/,'=a,/);
  });

  it('are a table with one line for each item, whatever the items contain', () => {
    const rows = [
      ROW,
      {
        ...ROW,
        index: 2,
        item: 'x\u001b[2J\ny'.repeat(40),
        status: 'failed',
        result: '',
        error: { code: 'TIMEOUT', message: 'it was\nsilent', retryable: true },
      } as const,
    ];
    const report = { id: 'r', template: 't', status: 'failed', rows } as const;
    const lines = reportText(report, 'text').split('\n');
    expect(lines.length).toBe(4);
    expect(lines[1]).toBe(
      '1  completed  abcdefgh  2      1,234   $0.0100  1.5 s  a                                         first',
    );
    expect(lines[2]).toMatch(/^2  failed .*…  TIMEOUT: it was\S* ?silent$/);
    expect(lines[2]).not.toContain('\u001b');
  });
});
