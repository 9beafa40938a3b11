import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  checkRequest,
  type StrictOptions,
  type Violation,
  type WireProtocol,
} from '../../../src/testing/index.ts';
import type { StrictRule } from '../../../src/testing/strict/rule.ts';

/** Returns the check of bodies in a protocol. */
export function checkBodies(protocol: WireProtocol, model = '') {
  return (body: JsonObject, options?: StrictOptions) =>
    checkRequest({ protocol, body, model }, options);
}

/** A request that breaks one rule. */
export interface BrokenRequest {
  readonly rule: string;
  /** Names the mistake: several requests can break a rule in different ways. */
  readonly name: string;
  readonly body: JsonObject;
  /** The error of the vendor; a part of it. */
  readonly message: string;
  /** The field that is named. */
  readonly path: string;
  /** Default: 400. */
  readonly status?: number;
}

/** Tests that good requests are taken, that each broken one breaks just its rule, and that no rule is left out. */
export function testRules<Request>(options: {
  readonly rules: readonly StrictRule<Request>[];
  readonly check: (body: JsonObject) => readonly Violation[];
  readonly good: Readonly<Record<string, JsonObject>>;
  readonly broken: readonly BrokenRequest[];
}): void {
  const { rules, check, good, broken } = options;
  it.each(Object.entries(good))('takes %s', (_name, body) => {
    expect(check(body)).toEqual([]);
  });

  it.each(broken.map((each) => [`${each.rule}: ${each.name}`, each] as const))(
    'refuses %s',
    (_name, { rule, body, message, path, status = 400 }) => {
      const violations = check(body);
      expect(new Set(violations.map((violation) => violation.rule))).toEqual(new Set([rule]));
      expect(violations[0]).toMatchObject({ path, status });
      expect(violations[0]?.message).toContain(message);
    },
  );

  it('has a request that breaks each rule, and a source for it', () => {
    const tested = new Set(broken.map(({ rule }) => rule));
    expect(rules.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([]);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    for (const { source } of rules) expect(source).toMatch(/^https:\/\/\S+$/);
  });
}
