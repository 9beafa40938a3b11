import { createRedactor } from '../store/redact.ts';
import type { Environment } from '../sys/env.ts';

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Names and places of secrets, which are none themselves. */
const NO_SECRET_NAME = /_(FILE|PATH|DIR|ID|NAME|URL)$/i;
const PATH = /^[.~]?\//;
/** Shorter ones would be found in everything. */
const SHORTEST = 8;

/** The values in the environment that must not get into logs: by the names of their variables. */
export function secretsOf(environment: Environment): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && isSecret(name, value) ? [value] : [],
  );
}

function isSecret(name: string, value: string): boolean {
  if (value.length < SHORTEST || PATH.test(value)) return false;
  return SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name);
}

/** For what is told where nothing else has redacted it: errors of a start. */
export function redactFor(environment: Environment): (text: string) => string {
  return createRedactor({ secrets: secretsOf(environment) });
}
