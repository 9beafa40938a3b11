import { Validator } from '@cfworker/json-schema';
import { readFileSync } from 'node:fs';
import type { AnyMessage } from '@agentclientprotocol/sdk/unstable';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';

/** A message on the wire, and who has sent it. */
export interface WireMessage {
  readonly from: 'client' | 'agent';
  readonly message: AnyMessage;
}

/** `stable`: what every client understands; `unstable`: what a client has to ask for in addition. */
type SchemaName = 'stable' | 'unstable';

const FILES: Readonly<Record<SchemaName, string>> = {
  stable: 'schema.json',
  unstable: 'schema.unstable.json',
};

const DEFINITIONS = new Map<SchemaName, JsonObject>();

function readDefinitions(name: SchemaName): JsonObject {
  const known = DEFINITIONS.get(name);
  if (known !== undefined) return known;
  const url = import.meta.resolve(`@agentclientprotocol/sdk/schema/v1/${FILES[name]}`);
  const schema: unknown = JSON.parse(readFileSync(new URL(url), 'utf8'));
  const definitions = isJsonObject(schema) ? schema['$defs'] : undefined;
  if (!isJsonObject(definitions)) throw new Error('the schema has no definitions');
  DEFINITIONS.set(name, definitions);
  return definitions;
}

/** Finds the definition of the parameters or of the result of a method. */
function findDefinition(name: SchemaName, method: string, kind: 'params' | 'result'): string {
  const found = Object.entries(readDefinitions(name)).find(
    ([key, value]) =>
      isJsonObject(value) &&
      value['x-method'] === method &&
      key.endsWith('Response') === (kind === 'result'),
  );
  if (found === undefined) throw new Error(`the ${name} schema has no ${kind} for ${method}`);
  return found[0];
}

/** Returns what the schema of the protocol has against the messages of both sides on the wire, one by one; empty: nothing. */
export function findSchemaErrors(
  { wire }: { readonly wire: readonly WireMessage[] },
  name: SchemaName = 'stable',
): readonly string[] {
  const requested = new Map<string, string>();
  for (const { from, message } of wire) {
    if ('method' in message && 'id' in message)
      requested.set(JSON.stringify([from, message.id]), message.method);
  }
  return wire.flatMap(({ from, message }) => {
    if (message.jsonrpc !== '2.0') return [`no JSON-RPC: ${JSON.stringify(message)}`];
    if ('method' in message) {
      if (message.method.startsWith('$/')) return [];
      return check(name, findDefinition(name, message.method, 'params'), message.params);
    }
    const other = from === 'agent' ? 'client' : 'agent';
    const method = requested.get(JSON.stringify([other, message.id]));
    if (method === undefined) return [`an answer to no request: ${JSON.stringify(message)}`];
    if (!('result' in message)) return [];
    return check(name, findDefinition(name, method, 'result'), message.result);
  });
}

/** Returns what the schema has against the parameters of a method; empty: nothing. */
export function findParamErrors(
  method: string,
  params: unknown,
  name: SchemaName = 'stable',
): readonly string[] {
  return check(name, findDefinition(name, method, 'params'), params);
}

const VALIDATORS = new Map<string, Validator>();

function check(name: SchemaName, definition: string, value: unknown): readonly string[] {
  const key = `${name} ${definition}`;
  const schema = { $defs: readDefinitions(name), $ref: `#/$defs/${definition}` };
  const validator = VALIDATORS.get(key) ?? new Validator(schema, '2020-12', false);
  VALIDATORS.set(key, validator);
  const { errors } = validator.validate(value);
  return errors.map(({ instanceLocation, error }) => `${definition}${instanceLocation}: ${error}`);
}
