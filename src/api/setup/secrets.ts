import { keyIn } from '../../model/provider-key.ts';
import { createRedactor } from '../../store/redact.ts';
import type { Environment } from '../../sys/env.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';

const PATH = /^[.~]?\//;
/** Shorter ones would be found in everything. */
const SHORTEST = 8;

/** The values in the environment that must not get into logs: by the names of their variables. */
export function secretValues(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isSecret(name, value) ? formsOf(value) : [],
  );
}

/** As it stands there, and as a key is read from there. */
function formsOf(value: string): readonly string[] {
  const read = keyIn(value);
  return read === value || read.length < SHORTEST ? [value] : [value, read];
}

/** Whether a variable or field of this name holds a secret. */
export function isSecret(name: string, value: string): boolean {
  if (value.length < SHORTEST || PATH.test(value)) return false;
  return isSecretVariable(name);
}

/** For what is told where nothing else has redacted it: errors of a start. */
export function createEnvironmentRedactor(environment: Environment): (text: string) => string {
  return createRedactor({ secrets: secretValues(environment) });
}
