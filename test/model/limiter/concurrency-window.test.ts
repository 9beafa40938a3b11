import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  recordAcceptance,
  FIRST_PROBE_DELAY_MS,
  countAvailableSlots,
  MAX_PAUSE_MS,
  openWindow,
  pauseWindow,
  startProbe,
  recordRefusal,
  resizeWindow,
  computeWaitMs,
  type ConcurrencyWindow,
} from '../../../src/model/limiter/concurrency-window.ts';

const OPEN = openWindow(64);
const REFUSAL = { era: 0, othersInFlight: 3, retryAfterMs: 1_000, now: 100, random: 0 };
/** Three lanes, the pause over at 1,100. */
const LOWERED = recordRefusal(OPEN, REFUSAL);
const PROBING: ConcurrencyWindow = startProbe(LOWERED, LOWERED.probeAt);

describe('a refusal', () => {
  it('lowers the size to the other requests in flight, pauses, and sets the time of the next probe', () => {
    expect(LOWERED).toEqual({
      ...OPEN,
      size: 3,
      pausedUntil: 1_100,
      refusals: 1,
      era: 1,
      probeAt: 1_100 + FIRST_PROBE_DELAY_MS,
    });
    expect([99, 1_099, 1_100].map((now) => countAvailableSlots(LOWERED, now))).toEqual([0, 0, 3]);
  });

  it.each<[string, ConcurrencyWindow, Partial<typeof REFUSAL>, Partial<ConcurrencyWindow>]>([
    ['alone leaves one lane', OPEN, { othersInFlight: 0 }, { size: 1 }],
    ['never raises', LOWERED, { era: 1, othersInFlight: 9 }, { size: 3 }],
    [
      'sent with the first lowers further and teaches nothing else',
      LOWERED,
      { othersInFlight: 2, now: 101 },
      { size: 2, era: 1, refusals: 1, probeDelayMs: FIRST_PROBE_DELAY_MS, pausedUntil: 1_101 },
    ],
    [
      'of a try for more doubles the time to the next',
      PROBING,
      { era: 1, now: 9_200 },
      {
        size: 3,
        probeSize: null,
        probeDelayMs: 2 * FIRST_PROBE_DELAY_MS,
        probeAt: 10_200 + 2 * FIRST_PROBE_DELAY_MS,
      },
    ],
    ['does not shorten a pause', pauseWindow(OPEN, 9_000), {}, { pausedUntil: 9_000 }],
  ])('%s', (_, window, refusal, change) => {
    expect(recordRefusal(window, { ...REFUSAL, ...refusal })).toMatchObject(change);
  });

  it('waits at most two minutes between probes', () => {
    let window = OPEN;
    for (let n = 0; n < 20; n += 1) window = recordRefusal(window, { ...REFUSAL, era: window.era });
    expect(window.probeDelayMs).toBe(120_000);
  });
});

describe('the wait of a refused request', () => {
  it.each([
    ['as long as the server asks', 0, 1_000, 0, 1_000],
    ['longer by chance', 0, 1_000, 0.5, 1_175],
    ['a while even if the server asks to come at once', 0, 0, 0.5, 125],
    ['longer the fourth time that the server asks to come at once', 3, 0, 0.5, 3_000],
    ['if no time is named, at first', 0, null, 0, 250],
    ['if no time is named, the third time', 2, null, 0.5, 1_500],
    ['if no time is named, at most', 50, null, 0, 15_000],
    ['not for a year', 0, 3e10, 0, MAX_PAUSE_MS],
    ['not for ever', 0, Infinity, 0, MAX_PAUSE_MS],
    ['no negative time', 0, -5, 0, 0],
    ['nothing for something that is not a number', 0, Number.NaN, 0, 0],
  ])('%s', (_, refusals, retryAfterMs, random, ms) => {
    expect(computeWaitMs(refusals, { retryAfterMs, random })).toBe(ms);
  });
});

describe('a probe', () => {
  it.each([
    ['not before its time', LOWERED, LOWERED.probeAt - 1, null],
    ['one lane more when it is time', LOWERED, LOWERED.probeAt, 4],
    ['not while another one is under way', { ...LOWERED, probeSize: 5 }, 1e9, 5],
    ['not in a pause', pauseWindow(LOWERED, 1e9), LOWERED.probeAt, null],
    ['not if nothing was lowered', OPEN, 1e9, null],
    ['no more than is configured', { ...LOWERED, size: 60, probeStep: 16 }, 1e9, 64],
  ])('%s', (_, window, now, probeSize) => {
    expect(startProbe(window, now).probeSize).toBe(probeSize);
  });

  const ACCEPTED = { era: 1, inFlightAtSend: 4, inFlight: 4, now: 9_200 };

  it('succeeds when all its slots were in use from its start to its answer', () => {
    expect(recordAcceptance(PROBING, ACCEPTED)).toEqual({
      ...PROBING,
      size: 4,
      probeSize: null,
      refusals: 0,
      successfulProbes: 1,
      probeStep: 2,
      probeAt: 10_200,
    });
  });

  it.each([
    ['one that was sent before it tells nothing', { ...ACCEPTED, inFlightAtSend: 3 }],
    ['one while the slots were not all in use tells nothing', { ...ACCEPTED, inFlight: 3 }],
    ['one of an earlier era tells nothing', { ...ACCEPTED, era: 0 }],
  ])('%s', (_, acceptance) => {
    expect(recordAcceptance(PROBING, acceptance)).toEqual({ ...PROBING, refusals: 0 });
  });

  it('shortens the wait after two successes, and forgets everything when all slots are accepted again', () => {
    const patient = { ...PROBING, probeDelayMs: 64_000 };
    const once = recordAcceptance(patient, ACCEPTED);
    const twice = recordAcceptance(startProbe(once, once.probeAt), {
      ...ACCEPTED,
      inFlightAtSend: 6,
      inFlight: 6,
    });
    expect([once.probeDelayMs, twice.probeDelayMs, twice.size]).toEqual([
      64_000,
      FIRST_PROBE_DELAY_MS,
      6,
    ]);
    const last = { ...twice, size: 63, probeSize: 64, probeStep: 16 };
    expect(recordAcceptance(last, { ...ACCEPTED, inFlightAtSend: 64, inFlight: 64 })).toEqual({
      ...OPEN,
      era: 2,
    });
  });

  it('does nothing if nothing was refused', () => {
    expect(recordAcceptance(OPEN, { era: 0, inFlightAtSend: 9, inFlight: 9, now: 5 })).toBe(OPEN);
  });
});

describe('a new configuration', () => {
  it.each([
    ['the same', LOWERED, 64, { max: 64, size: 3 }],
    ['more, with fewer taken', LOWERED, 100, { max: 100, size: 3 }],
    ['fewer than are taken', LOWERED, 2, { max: 2, size: 2 }],
    ['more', OPEN, 100, { max: 100, size: 100 }],
  ])('%s', (_, window, max, change) => {
    expect(resizeWindow(window, max)).toMatchObject(change);
  });
});

it('after any events, the number of slots is between one and all, and every pause ends', () => {
  const at = fc.integer({ min: 0, max: 100_000 });
  const anyNumber = fc.oneof(fc.constant(null), fc.double(), fc.integer());
  const event = fc.oneof(
    fc.record({
      kind: fc.constant('refused' as const),
      othersInFlight: fc.nat(70),
      retryAfterMs: anyNumber,
      now: at,
    }),
    fc.record({
      kind: fc.constant('accepted' as const),
      inFlightAtSend: fc.nat(70),
      inFlight: fc.nat(70),
      now: at,
    }),
    fc.record({ kind: fc.constant('probed' as const), now: at }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let window = OPEN;
      let latest = 0;
      for (const each of events) {
        latest = Math.max(latest, each.now);
        const era = window.era;
        if (each.kind === 'refused') window = recordRefusal(window, { ...each, era, random: 0.5 });
        else if (each.kind === 'accepted') window = recordAcceptance(window, { ...each, era });
        else window = startProbe(window, each.now);
        const open = countAvailableSlots(window, latest + 1.1 * MAX_PAUSE_MS + 250);
        expect(open).toBeGreaterThanOrEqual(1);
        expect(open).toBeLessThanOrEqual(64);
      }
    }),
  );
});
