import { createRedactor } from '../../store/redact/redactor.ts';
import { parseKey } from '../../model/providers/provider-key.ts';
import type { Environment } from '../../sys/env.ts';
import { isSecretVariable } from '../../sys/secret-variables.ts';

const PATH = /^[.~]?\//;
/** The minimum length of a secret. A shorter value would be found in any text. */
const MIN_SECRET_LENGTH = 8;

/**
 * Returns the values of the environment that must not get into logs, by the names of their variables.
 */
export function secretValues(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isSecret(name, value) ? listSecretForms(value) : [],
  );
}

/** Returns the value as written, and the API key that `parseKey` reads from the value if the two differ. */
export function listSecretForms(value: string): readonly string[] {
  const read = parseKey(value);
  return read === value || read.length < MIN_SECRET_LENGTH ? [value] : [value, read];
}

/** Returns whether a variable or field of this name holds a secret. */
export function isSecret(name: string, value: string): boolean {
  if (value.length < MIN_SECRET_LENGTH || PATH.test(value)) return false;
  return isSecretVariable(name);
}

/** Creates a redactor for texts that nothing else has redacted, such as errors of a start. */
export function createEnvironmentRedactor(environment: Environment): (text: string) => string {
  return createRedactor({ secrets: secretValues(environment) });
}
