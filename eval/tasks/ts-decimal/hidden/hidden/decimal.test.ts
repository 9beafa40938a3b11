import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal, format, type Rounding } from '../src/index.ts';

const D = Decimal.of;
const text = (value: Parameters<typeof Decimal.of>[0]) => D(value).toString();

test('reading and writing', () => {
  const cases: [string | number | bigint, string][] = [
    ['0', '0'], ['-0', '0'], ['-0.000', '0'], ['+1.50', '1.5'], ['.5', '0.5'], ['5.', '5'], ['007', '7'], ['1e3', '1000'], ['1.25E-3', '0.00125'],
    ['-12e-1', '-1.2'], ['120e-1', '12'], ['0e500', '0'], ['1e21', '1000000000000000000000'], [0.1, '0.1'], [1e21, '1000000000000000000000'], [1e-7, '0.0000001'], [-0, '0'],
    [123n, '123'], [-10n, '-10'], [5e-324, `0.${'0'.repeat(323)}5`], ['100', '100'], ['1.0e+2', '100'], ['0.10', '0.1'],
  ];
  for (const [value, expected] of cases) assert.equal(text(value), expected, String(value));
  for (const wrong of ['', ' ', '1 ', ' 1', '.', '1e', 'e5', '1,5', '1_000', '0x1', 'NaN', 'Infinity', '--1', '1.2.3', '1e1.5', '١']) {
    assert.throws(() => D(wrong), SyntaxError, wrong);
  }
  for (const wrong of [NaN, Infinity, -Infinity]) assert.throws(() => D(wrong), RangeError);
  assert.equal(text('1e9999').length, 10_000);
  for (const wrong of ['1e10000', '1e-10000', '1e99999999999999999999', '0e10000']) assert.throws(() => D(wrong), RangeError, wrong);
  assert.deepEqual(JSON.stringify({ price: D('1.50') }), '{"price":"1.5"}');
  assert.equal(`${D('-1.50')}`, '-1.5');
});

test('arithmetic is exact', () => {
  assert.equal(D('0.1').plus(D('0.2')).toString(), '0.3');
  assert.equal(D('1e30').plus(D('1e-30')).toString(), `1${'0'.repeat(30)}.${'0'.repeat(29)}1`);
  assert.equal(D('1e30').plus(D('1e-30')).minus(D('1e30')).toString(), `0.${'0'.repeat(29)}1`);
  assert.equal(D('-1.5').times(D('0.02')).toString(), '-0.03');
  assert.equal(D('99999999999999999999').times(D('99999999999999999999')).toString(), '9999999999999999999800000000000000000001');
  assert.equal(D('-0.5').plus(D('0.5')).toString(), '0');
  assert.equal(Decimal.sum([]).toString(), '0');
  assert.equal(Decimal.sum(new Set([D('0.1'), D('0.7'), D('-0.80')])).toString(), '0');
  const one = D('1');
  one.plus(D('2'));
  assert.equal(one.toString(), '1');
});

test('comparing', () => {
  assert.deepEqual([D('1.0').compare(D('1')), D('-2').compare(D('1')), D('1e-30').compare(D('0')), D('10').compare(D('9'))], [0, -1, 1, 1]);
  assert.equal(D('9007199254740993').compare(D('9007199254740992')), 1);
  assert.deepEqual([D('10'), D('-1'), D('9.5')].toSorted((a, b) => a.compare(b)).map(String), ['-1', '9.5', '10']);
  assert.equal(D('1.50').equals(D('1.5')) && D('-0').equals(D('0')) && !D('1').equals(D('1.0000000000000000000001')), true);
});

const MODES: Rounding[] = ['up', 'down', 'floor', 'ceiling', 'half-up', 'half-down', 'half-even'];
const TABLE: [string, string][] = [
  ['5.5', '6 5 5 6 6 5 6'], ['2.5', '3 2 2 3 3 2 2'], ['1.6', '2 1 1 2 2 2 2'], ['1.1', '2 1 1 2 1 1 1'], ['1.0', '1 1 1 1 1 1 1'],
  ['-1.1', '-2 -1 -2 -1 -1 -1 -1'], ['-1.6', '-2 -1 -2 -1 -2 -2 -2'], ['-2.5', '-3 -2 -3 -2 -3 -2 -2'], ['-5.5', '-6 -5 -6 -5 -6 -5 -6'], ['0.5', '1 0 0 1 1 0 0'],
  ['-0.5', '-1 0 -1 0 -1 0 0'], ['2.50000000000000000001', '3 2 2 3 3 3 3'], ['-0.0001', '-1 0 -1 0 0 0 0'], ['0', '0 0 0 0 0 0 0'], ['3.4999999999999999999', '4 3 3 4 3 3 3'],
];

test('rounding', () => {
  for (const [value, results] of TABLE) {
    for (const [index, mode] of MODES.entries()) {
      const expected = results.split(' ')[index];
      assert.equal(D(value).round(0, mode).toString(), expected, `${value} ${mode}`);
      const shifted = D(`${value}e-20`).round(20, mode).times(D('1e20'));
      assert.equal(shifted.toString(), expected, `${value}e-20 ${mode}`);
      const large = D(`${value}e3`).round(-3, mode).dividedBy(D('1000'), 0);
      assert.equal(large.toString(), expected, `${value}e3 ${mode}`);
      assert.equal(D(value).dividedBy(D('1'), 0, mode).toString(), expected);
      assert.equal(D(value).times(D('-3')).dividedBy(D('-3'), 0, mode).toString(), expected);
    }
  }
  assert.deepEqual([D('2.5').round(0), D('3.5').round(0), D('1234.5').round(-2), D('49').round(-2, 'half-up'), D('50').round(-2, 'half-up'), D('1').round(-5, 'up'), D('1.5').round(5)].map(String), ['2', '4', '1200', '0', '100', '100000', '1.5']);
  for (const digits of [0.5, NaN, Infinity]) assert.throws(() => D('1').round(digits), RangeError);
});

test('division', () => {
  assert.deepEqual([D('1').dividedBy(D('3'), 5), D('2').dividedBy(D('3'), 5), D('-2').dividedBy(D('3'), 3), D('1').dividedBy(D('8'), 2), D('3').dividedBy(D('8'), 2)].map(String), ['0.33333', '0.66667', '-0.667', '0.12', '0.38']);
  assert.deepEqual([D('1').dividedBy(D('3'), 0, 'ceiling'), D('-1').dividedBy(D('3'), 0, 'floor'), D('-1').dividedBy(D('3'), 0, 'ceiling'), D('1').dividedBy(D('-3'), 1, 'up'), D('0').dividedBy(D('-3'), 1, 'up')].map(String), ['1', '-1', '0', '-0.4', '0']);
  assert.equal(D('1').dividedBy(D('0.0003'), 2).toString(), '3333.33');
  assert.equal(D('123456').dividedBy(D('0.001'), -6, 'down').toString(), '123000000');
  assert.equal(D('1').dividedBy(D('7'), 40).toString(), '0.1428571428571428571428571428571428571429');
  assert.throws(() => D('1').dividedBy(D('0'), 2), RangeError);
  assert.throws(() => D('1').dividedBy(D('3'), 1.5), RangeError);
});

test('division does not round twice', () => {
  // 0.4999…8 must not become 0.5 first.
  assert.equal(D('0.49999999999999999999999999999999999999999').dividedBy(D('1'), 0, 'half-up').toString(), '0');
  assert.equal(D('1').dividedBy(D('6'), 0, 'half-up').toString(), '0');
  assert.equal(D(1n + 2n * 10n ** 60n).dividedBy(D(4n * 10n ** 60n), 0, 'half-down').toString(), '1');
  assert.equal(D(2n * 10n ** 60n).dividedBy(D(4n * 10n ** 60n), 0, 'half-down').toString(), '0');
});

test('square roots', () => {
  assert.deepEqual([D('2').sqrt(10), D('9').sqrt(3), D('0').sqrt(2), D('0.0001').sqrt(2), D('0.0001').sqrt(1), D('1e-9').sqrt(3), D('24.9999').sqrt(0)].map(String), ['1.4142135623', '3', '0', '0.01', '0', '0', '4']);
  assert.equal(D('2').sqrt(50).toString(), '1.41421356237309504880168872420969807856967187537694');
  const large = D((10n ** 40n + 7n) ** 2n);
  assert.equal(large.sqrt(0).toString(), (10n ** 40n + 7n).toString());
  assert.equal(large.minus(D('1')).sqrt(0).toString(), (10n ** 40n + 6n).toString());
  assert.throws(() => D('-1').sqrt(2), RangeError);
  assert.throws(() => D('1').sqrt(-1), RangeError);
});

test('fixed digits and numbers', () => {
  assert.deepEqual([D('1.005').toFixed(2), D('1.015').toFixed(2), D('1.005').toFixed(2, 'half-up'), D('-0.001').toFixed(2), D('12').toFixed(0), D('12').toFixed(3), D('-0.5').toFixed(1), D('0.05').toFixed(1, 'up')], ['1.00', '1.02', '1.01', '0.00', '12', '12.000', '-0.5', '0.1']);
  assert.equal(D('123456789012345678901234567890.12').toFixed(3), '123456789012345678901234567890.120');
  assert.throws(() => D('1').toFixed(-1), RangeError);
  assert.deepEqual([D('0.1').toNumber(), D('9007199254740993').toNumber(), D('1e400').toNumber(), D('-0').toNumber(), D('123.456').toNumber()], [0.1, 9007199254740992, Infinity, 0, 123.456]);
});

test('formats', () => {
  assert.deepEqual([format(D('1234567.891')), format(D('-1234')), format(D('999')), format(D('0')), format(D('-0.5'))], ['1,234,567.891', '-1,234', '999', '0', '-0.5']);
  assert.deepEqual([format(D('12345678901234567890.5'), { least: 2 }), format(D('1.005'), { most: 2 }), format(D('1.015'), { most: 2 }), format(D('-0.004'), { most: 2 }), format(D('999.995'), { least: 2, most: 2 })], ['12,345,678,901,234,567,890.50', '1', '1.02', '0', '1,000.00']);
  assert.deepEqual([format(D('1234.5'), { group: '’', point: ',' }), format(D('1234.5'), { group: '' }), format(D('1234.5'), { group: '$&', point: '.' }), format(D('1000000'), { group: ' ' })], ['1’234,5', '1234.5', '1$&234.5', '1 000 000']);
  assert.equal(format(D('1e-30')), `0.${'0'.repeat(29)}1`);
  assert.throws(() => format(D('1'), { least: 3, most: 2 }), RangeError);
});

test('speed', () => {
  const before = process.cpuUsage().user;
  let total = D('0');
  for (let i = 0; i < 50_000; i++) total = total.plus(D('0.01'));
  assert.equal(total.toString(), '500');
  const digits = D(`0.${'3'.repeat(9000)}`);
  assert.equal(digits.times(digits).round(10).toString(), '0.1111111111');
  assert.equal(D('3').sqrt(5000).toString().length, 5002);
  assert.ok(process.cpuUsage().user - before < 8_000_000);
});
