import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPresetByHost, PRESET_NAMES, PRESETS } from '../../../src/model/settings/presets.ts';
import { PRESET_QUIRKS } from '../../../src/model/settings/preset-quirks.ts';
import { effortLevels, findNearestEffort } from '../../../src/model/settings/provider-quirks.ts';
import { EFFORTS } from '../../../src/protocol/model.ts';

const distance = (a: string, b: string): number =>
  Math.abs(EFFORTS.indexOf(a as never) - EFFORTS.indexOf(b as never));

test('no effort of a rule is nearer than the chosen one, and no equally near one is higher', () => {
  fc.assert(
    fc.property(fc.constantFrom(...EFFORTS), fc.subarray([...EFFORTS]), (wanted, known) => {
      const nearest = findNearestEffort(wanted, { fields: effortLevels(known) });
      expect(nearest === null).toBe(known.length === 0);
      if (nearest === null) return;
      expect(known).toContain(nearest);
      for (const effort of known) {
        const farther = distance(effort, wanted) - distance(nearest, wanted);
        expect(farther).toBeGreaterThanOrEqual(0);
        if (farther === 0)
          expect(EFFORTS.indexOf(effort)).toBeLessThanOrEqual(EFFORTS.indexOf(nearest));
      }
    }),
  );
});

test('the address of each known provider belongs to it', () => {
  const hosted = PRESET_NAMES.filter((name) => !('isLocal' in PRESETS[name]));
  const owners = hosted.map((name) => findPresetByHost(new URL(PRESETS[name].baseUrl).hostname));
  expect(owners).toEqual(hosted);
});

test('no rule for efforts comes after one for all models', () => {
  for (const { efforts = [] } of Object.values(PRESET_QUIRKS)) {
    expect(efforts.slice(0, -1).filter(({ models }) => models === undefined)).toEqual([]);
  }
});
