import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sheet, SheetError } from '../src/index.ts';

test('formulas follow the cells that they name', () => {
  const sheet = new Sheet();
  sheet.set('A1', '2');
  sheet.set('A2', '3');
  sheet.set('B1', '=SUM(A1:A3) * 2');
  assert.equal(sheet.value('B1'), 10);
  assert.deepEqual(sheet.set('A3', '5'), ['A3', 'B1']);
  assert.equal(sheet.value('B1'), 20);
});

test('a cycle', () => {
  const sheet = new Sheet();
  sheet.set('A1', '=B1');
  sheet.set('B1', '=A1');
  const value = sheet.value('A1');
  assert.ok(value instanceof SheetError && value.code === '#CYCLE!');
});
