import type { JsonObject } from '../../../base/json.ts';
import { readString } from '../../wire/read-json.ts';
import type { StrictOptions } from '../options.ts';
import { locateObjects, type LocatedObject } from '../read.ts';

export interface InputItem extends LocatedObject {
  readonly index: number;
  /** The type of the item. For a message it is `message`, even if the field is missing. */
  readonly type: string;
  readonly role: string;
}

/** The parsed body of a request to the Responses API. */
export interface ResponsesRequest {
  readonly body: JsonObject;
  readonly items: readonly InputItem[];
  readonly options: StrictOptions;
}

export function readResponses(body: JsonObject, options: StrictOptions): ResponsesRequest {
  const items = locateObjects(body['input'], (index) => `input[${index}]`);
  return { body, items: items.map(readItem), options };
}

function readItem({ path, value }: LocatedObject, index: number): InputItem {
  const role = readString(value['role']);
  const type = readString(value['type']) || (role === '' ? '' : 'message');
  return { path, value, index, type, role };
}

/** The types of the items that are calls: of a function, and of a custom tool, whose input is a text. */
export const CALLS = ['function_call', 'custom_tool_call'] as const;
/** The types of the items with the results of calls, in the order of CALLS. */
export const OUTPUTS = ['function_call_output', 'custom_tool_call_output'] as const;

/** Selects the items of these types. */
export function selectItems({ items }: ResponsesRequest, ...types: readonly string[]) {
  return items.filter(({ type }) => types.includes(type));
}
