import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { placedObjects, type Placed } from '../read.ts';

export interface Content extends Placed {
  readonly index: number;
  readonly role: string;
  readonly parts: readonly Placed[];
  /** The parts with a call of a function. `responses`: the parts with the result of a call. */
  readonly calls: readonly Placed[];
  readonly responses: readonly Placed[];
}

/** The parsed body of a request to generateContent, with the model from the path of the request. */
export interface GoogleRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly contents: readonly Content[];
  readonly functions: readonly Placed[];
}

export function readGoogle(body: JsonObject, model: string): GoogleRequest {
  return {
    body,
    model,
    contents: placedObjects(body['contents'], (index) => `contents[${index}]`).map(readContent),
    functions: placedObjects(body['tools'], (index) => `tools[${index}]`).flatMap(
      ({ path, value }) =>
        placedObjects(
          value['functionDeclarations'],
          (at) => `${path}.function_declarations[${at}]`,
        ),
    ),
  };
}

function readContent({ path, value }: Placed, index: number): Content {
  const parts = placedObjects(value['parts'], (at) => `${path}.parts[${at}]`);
  return {
    path,
    value,
    index,
    role: readString(value['role']),
    parts,
    calls: parts.filter((part) => part.value['functionCall'] !== undefined),
    responses: parts.filter((part) => part.value['functionResponse'] !== undefined),
  };
}

/** Returns the call or the response in a part. */
export function functionOf({ value }: Placed): JsonObject {
  return readObject(value['functionCall'] ?? value['functionResponse']);
}
