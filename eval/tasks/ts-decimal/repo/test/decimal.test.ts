import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal, format } from '../src/index.ts';

test('exact sums', () => {
  assert.equal(Decimal.of('0.1').plus(Decimal.of('0.2')).toString(), '0.3');
  assert.equal(Decimal.of('12345678901234567890').times(Decimal.of('0.5')).toString(), '6172839450617283945');
});

test('rounding', () => {
  assert.equal(Decimal.of('-2.5').round(0, 'half-up').toString(), '-3');
  assert.equal(Decimal.of('1.005').toFixed(2, 'half-up'), '1.01');
  assert.equal(format(Decimal.of('1234567.5'), { least: 2 }), '1,234,567.50');
});
