import type { JsonObject } from '../../../base/json.ts';
import { readString } from '../../wire/read-json.ts';
import { placedObjects, type Placed } from '../read.ts';

export interface InputItem extends Placed {
  readonly index: number;
  /** `message` also where the short form of a message leaves it out. */
  readonly type: string;
  readonly role: string;
}

/** The body of a request to the Responses API, taken apart. */
export interface ResponsesRequest {
  readonly body: JsonObject;
  readonly items: readonly InputItem[];
}

export function readResponses(body: JsonObject): ResponsesRequest {
  return { body, items: placedObjects(body['input'], (index) => `input[${index}]`).map(readItem) };
}

function readItem({ path, value }: Placed, index: number): InputItem {
  const role = readString(value['role']);
  const type = readString(value['type']) || (role === '' ? '' : 'message');
  return { path, value, index, type, role };
}

export function itemsOf({ items }: ResponsesRequest, ...types: readonly string[]) {
  return items.filter(({ type }) => types.includes(type));
}
