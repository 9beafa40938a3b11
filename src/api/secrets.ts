import type { Environment } from '../sys/env.ts';

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Shorter ones would be found in everything. */
const SHORTEST = 8;

/** The values in the environment that must not get into logs: by the names of their variables. */
export function secretsOf(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value.length >= SHORTEST && SECRET_NAME.test(name) ? [value] : [],
  );
}
