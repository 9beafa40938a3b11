import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sheet, SheetError } from '../src/index.ts';

function sheetOf(cells: Record<string, string>): Sheet {
  const sheet = new Sheet();
  for (const [name, input] of Object.entries(cells)) sheet.set(name, input);
  return sheet;
}

/** The value of a formula; an error as its code. */
function of(formula: string, cells: Record<string, string> = {}) {
  const value = sheetOf({ ...cells, Z99: `=${formula}` }).value('Z99');
  return value instanceof SheetError ? value.code : value;
}

test('cells and inputs', () => {
  const sheet = sheetOf({ A1: ' -12.5e1 ', B2: 'a text ', C3: '1e', ZZ9999: '7', D1: '0x10', D2: 'Infinity', D3: ' ', D5: '-' });
  assert.deepEqual(['A1', 'B2', 'C3', 'ZZ9999', 'D1', 'D2', 'D3', 'D5', 'Q7'].map((name) => sheet.value(name)), [-125, 'a text ', '1e', 7, '0x10', 'Infinity', ' ', '-', null]);
  assert.equal(sheet.input('A1'), ' -12.5e1 ');
  assert.equal(sheet.input('Q7'), '');
  for (const name of ['A0', 'a1', 'A01', 'A10000', 'AAA1', '', '1A', 'A', '$A$1', 'A1 ']) {
    assert.throws(() => sheet.set(name, '1'), RangeError, name);
  }
  assert.deepEqual(sheet.set('A1', ''), ['A1']);
  assert.equal(sheet.value('A1'), null);
  assert.equal(sheet.input('A1'), '');
});

test('arithmetic', () => {
  assert.deepEqual([of('1+2*3-4/2'), of('2^3^2'), of('-2^2'), of('2^-1'), of('(1+2)*3'), of('8/4/2'), of('10-4-3')], [5, 512, -4, 0.5, 9, 1, 3]);
  assert.deepEqual([of(' - - 3 '), of('+4'), of('2*-3'), of('1.5e2'), of('0.5+1'), of('--2^2')], [3, 4, -6, 150, 1.5, 4]);
  assert.deepEqual([of('1/0'), of('0/0'), of('10^400'), of('(-1)^0.5'), of('1e308*10')], ['#DIV/0!', '#DIV/0!', '#VALUE!', '#VALUE!', '#VALUE!']);
  assert.deepEqual([of('A1+1'), of('-A1+2'), of('A1/A2')], [1, 2, '#DIV/0!']);
  assert.deepEqual([of('"a"+1'), of('"1"+1'), of('TRUE+1'), of('-TRUE')], ['#VALUE!', '#VALUE!', '#VALUE!', '#VALUE!']);
  assert.deepEqual([of('A1+B1', { A1: '=1/0', B1: '=X' }), of('B1+A1', { A1: '=1/0', B1: '=X' }), of('"a"+A1', { A1: '=1/0' })], ['#DIV/0!', '#NAME?', '#DIV/0!']);
});

test('texts and comparisons', () => {
  assert.deepEqual([of('"a ""b"""'), of('"a"&1&TRUE&A1&"z"'), of('1&2'), of('1+2&"x"'), of('0.1+0.2&""')], ['a "b"', 'a1TRUEz', '12', '3x', '0.30000000000000004']);
  assert.deepEqual([of('1=1'), of('1<>1'), of('"a"="A"'), of('"a"<"B"'), of('FALSE<TRUE'), of('2<10'), of('"2"<"10"')], [true, false, true, true, true, true, false]);
  assert.deepEqual([of('1<"a"'), of('"z"<FALSE'), of('99<FALSE'), of('1="1"'), of('TRUE=1')], [true, true, true, false, false]);
  assert.deepEqual([of('A1=0'), of('A1=""'), of('A1=FALSE'), of('A1=A2'), of('A1<1'), of('A1>"a"'), of('TRUE>A1')], [true, true, true, true, true, false, true]);
  assert.deepEqual([of('1<2=TRUE'), of('1=1=1'), of('1&2=12'), of('1+1>=2'), of('3<=2')], [true, false, false, true, false]);
});

test('wrong formulas', () => {
  for (const wrong of ['', '1+', '(1', '1)', '"a', 'FOO(1)', 'X', '1 2', 'SUM(1', 'SUM(1,)', 'A1:', ':A1', 'A1:B', '#', '1..2', 'SUM', 'A1 A2', '1,2', 'TRUE()', '$A$', '<1', '1=<2']) {
    assert.equal(of(wrong), '#NAME?', wrong);
  }
  const sheet = sheetOf({ A1: '=1+' });
  assert.equal(sheet.input('A1'), '=1+');
  assert.deepEqual([of('A0'), of('AAA1+1'), of('SUM(A1:A10000)'), of('IF(TRUE,1,A0)')], ['#REF!', '#REF!', '#REF!', 1]);
  assert.deepEqual([of('IF(TRUE)'), of('IF(1,2,3,4)'), of('SUM()'), of('ROUND(1)'), of('LEN()'), of('IFERROR(1)'), of('LEN("a","b")')], Array(7).fill('#VALUE!'));
  assert.deepEqual([of('A1:A2'), of('A1:A2+1'), of('LEN(A1:A2)'), of('IF(A1:A2,1,2)')], Array(4).fill('#VALUE!'));
});

test('functions', () => {
  const cells = { A1: '1', A2: 'two', A3: '=TRUE', B1: '4', B3: '-2' };
  assert.deepEqual([of('SUM(A1:B3)', cells), of('min(B3:A1)', cells), of('Max(A1:B3, 9)', cells), of('COUNT(A1:B3)', cells), of('AVERAGE(A1:B3)', cells)], [3, -2, 9, 3, 1]);
  assert.deepEqual([of('SUM(A3:B1)', cells), of('SUM($a$1:b1,1)', cells), of('SUM(A1,B2)', cells), of('COUNT(B2,1)', cells)], [3, 6, 1, 2]);
  assert.deepEqual([of('SUM(A2)', cells), of('SUM("1")'), of('MAX(A3)', cells)], ['#VALUE!', '#VALUE!', '#VALUE!']);
  assert.deepEqual([of('MIN(C1:C9)'), of('MAX(C1:C9)'), of('SUM(C1:C9)'), of('COUNT(C1:C9)'), of('AVERAGE(C1:C9)')], [0, 0, 0, 0, '#DIV/0!']);
  assert.deepEqual(of('SUM(A1:B2)', { B1: '=1/0', A2: '=X' }), '#DIV/0!');
  assert.deepEqual([of('IF(A1,1,1/0)', { A1: '2' }), of('IF(A1,1/0,"no")'), of('IF(0,1)'), of('IF("a",1,2)'), of('IF(1/0,1,2)'), of('IF(1<2,"y","n")')], [1, 'no', false, '#VALUE!', '#DIV/0!', 'y']);
  assert.deepEqual([of('ROUND(2.5,0)'), of('ROUND(-2.5,0)'), of('ROUND(1.005,2)'), of('ROUND(1234.5678,3)'), of('ROUND(8.345,2)'), of('ROUND(1,10)'), of('ROUND(1,0.5)'), of('ROUND(0.5,0)'), of('ROUND(2.4,0)'), of('ROUND(1e300,2)')], [3, -3, 1.01, 1234.568, 8.35, '#VALUE!', '#VALUE!', 1, 2, 1e300]);
  assert.deepEqual([of('LEN("abc")'), of('LEN(123)'), of('LEN(A1)'), of('LEN(TRUE)'), of('LEN(1/0)')], [3, 3, 0, 4, '#DIV/0!']);
  assert.deepEqual([of('IFERROR(1/0,"x")'), of('IFERROR(2,1/0)'), of('IFERROR(FOO(1),3)'), of('IFERROR(1/0,A0)'), of('1+IFERROR(A0,4)')], ['x', 2, 3, '#REF!', 5]);
});

test('changes', () => {
  const sheet = sheetOf({ A1: '1', B1: '=A1*0', AA1: '=A1+1', C1: '=AA1&B1', D1: '=SUM(A1:A100)' });
  assert.deepEqual(sheet.set('A1', '2'), ['A1', 'C1', 'D1', 'AA1']);
  assert.deepEqual(sheet.set('A1', '2.0'), []);
  assert.deepEqual(sheet.set('A1', '=1+1'), []);
  assert.deepEqual(sheet.set('A50', '1'), ['A50', 'D1']);
  assert.deepEqual(sheet.set('A51', 'text'), ['A51']);
  assert.deepEqual(sheet.set('A50', ''), ['A50', 'D1']);
  assert.deepEqual(sheet.set('A1', '="2"'), ['A1', 'B1', 'C1', 'D1', 'AA1']);
  assert.deepEqual(sheet.set('A1', '=1/0'), ['A1', 'B1', 'C1', 'D1', 'AA1']);
  assert.deepEqual(sheet.set('A1', '=2/0'), []);
  assert.deepEqual(sheet.set('B10', '=B9'), []);
  assert.deepEqual(sheet.set('B9', '7'), ['B9', 'B10']);
  assert.deepEqual(sheet.set('B10', '=B8'), ['B10']);
  assert.deepEqual(sheet.set('B9', '8'), ['B9']);
});

test('cycles', () => {
  const code = (sheet: Sheet, name: string) => {
    const value = sheet.value(name);
    return value instanceof SheetError ? value.code : value;
  };
  const sheet = sheetOf({ A1: '=B1+1', B1: '=C1', C1: '=A1', D1: '=C1+1', E1: '=IFERROR(A1,5)', F1: '=IF(TRUE,1,A1)', G1: '=G1', H1: '=IF(TRUE,1,H1)', I1: '=SUM(I1:I3)' });
  assert.deepEqual(['A1', 'B1', 'C1', 'D1', 'E1', 'F1', 'G1', 'H1', 'I1'].map((name) => code(sheet, name)), ['#CYCLE!', '#CYCLE!', '#CYCLE!', '#CYCLE!', 5, 1, '#CYCLE!', '#CYCLE!', '#CYCLE!']);
  assert.deepEqual(sheet.set('C1', '3'), ['A1', 'B1', 'C1', 'D1', 'E1']);
  assert.deepEqual(['A1', 'B1', 'C1', 'D1', 'E1'].map((name) => code(sheet, name)), [4, 3, 3, 4, 4]);
  assert.deepEqual(sheet.set('C1', '=IFERROR(A1,1)'), ['A1', 'B1', 'C1', 'D1', 'E1']);
  assert.equal(code(sheet, 'C1'), '#CYCLE!');
  const two = sheetOf({ A1: '=A2', A2: '=A1', B1: '=B2+A1', B2: '=B1', C1: '=IFERROR(B1,1)', A3: '=SUM(B1:B9)' });
  assert.deepEqual([code(two, 'B1'), code(two, 'C1'), code(two, 'A3')], ['#CYCLE!', 1, '#CYCLE!']);
  two.set('B2', '1');
  assert.equal(code(two, 'B1'), '#CYCLE!');
  two.set('A1', '2');
  assert.deepEqual([code(two, 'A2'), code(two, 'B1'), code(two, 'C1'), code(two, 'A3')], [2, 3, 3, 4]);
});

test('long chains and wide sheets', () => {
  const sheet = new Sheet();
  for (let row = 2; row <= 9999; row++) {
    sheet.set(`B${row}`, `=B${row - 1}+1`);
    sheet.set(`A${row}`, `=A${row - 1}+1`);
  }
  sheet.set('B1', '=A9999+1');
  assert.equal(sheet.set('A1', '1').length, 19_998);
  assert.equal(sheet.value('B9999'), 19_998);
  sheet.set('A1', '=B9999');
  assert.ok(sheet.value('B5000') instanceof SheetError);
  sheet.set('A1', '0');
  assert.equal(sheet.value('B9999'), 19_997);
});

test('each cell is computed once', () => {
  // Without that, the work doubles with every row.
  const sheet = sheetOf({ A1: '1' });
  for (let row = 2; row <= 60; row++) sheet.set(`A${row}`, `=A${row - 1}+A${row - 1}`);
  assert.equal(sheet.set('A1', '2').length, 60);
  assert.equal(sheet.value('A60'), 2 ** 60);
  const unrelated = new Sheet();
  for (let i = 1; i <= 3000; i++) unrelated.set(`C${i}`, `=SUM(B1:B50)+${i}`);
  const before = process.cpuUsage().user;
  for (let i = 0; i < 3000; i++) assert.deepEqual(unrelated.set('A1', String(i)), ['A1']);
  assert.ok(process.cpuUsage().user - before < 3_000_000);
});
