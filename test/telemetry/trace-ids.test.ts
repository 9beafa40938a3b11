import { describe, expect, it } from 'vitest';
import {
  findTrace,
  formatTraceparent,
  parseTraceparent,
  spanIdOfActivation,
  spanIdOfCall,
  spanIdOfRequest,
  traceparentOfCall,
} from '../../src/telemetry/trace-ids.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [` 00-${TRACE}-${SPAN}-03\n`, true],
    // A later version may have more fields.
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  ])('%j is read', (text, isSampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  it.each([
    '',
    'none',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n00-${TRACE}-${SPAN}-01`,
  ])('%j is none', (text) => {
    expect(parseTraceparent(text)).toBe(null);
  });
});

describe('the ids', () => {
  it('never change, because processes of different versions work on one trace', () => {
    expect([
      findTrace({ root: 'abcdefghijkl' }).traceId,
      spanIdOfActivation('abcdefghijkl', 0),
      spanIdOfRequest('abcdefghijkl', 3),
      spanIdOfCall('abcdefghijkl', 'call_1'),
      spanIdOfCall('abcdefghijkl', 'call_1', 1),
    ]).toMatchInlineSnapshot(`
      [
        "2aa6ee2f73289dff5530231e49a302fe",
        "d2bbca0161fcfca9",
        "f87f1ec029416916",
        "c7f6a53f9e9e6ac8",
        "fd04d4a13144e6e2",
      ]
    `);
  });

  it('of the caller are used in the trace of a tree and of its commands', () => {
    const traceparent = formatTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: false });
    const spec = { id: 'bcdefghijklm', root: 'abcdefghijkl', traceparent };
    expect(findTrace(spec)).toEqual({ traceId: TRACE, outerSpanId: SPAN, isSampled: false });
    const spanId = spanIdOfCall(spec.id, 'call_1');
    expect(traceparentOfCall(spec, 'call_1')).toBe(`00-${TRACE}-${spanId}-00`);
  });

  it('of an invalid context, which an imported log may contain, are those of the tree', () => {
    const spec = { root: 'abcdefghijkl' };
    expect(findTrace({ ...spec, traceparent: 'nonsense' })).toEqual(findTrace(spec));
  });
});
