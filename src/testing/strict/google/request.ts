import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { locateObjects, type LocatedObject } from '../read.ts';

export interface Content extends LocatedObject {
  readonly index: number;
  readonly role: string;
  readonly parts: readonly LocatedObject[];
  /** The parts that contain the call of a function. */
  readonly calls: readonly LocatedObject[];
  /** The parts that contain the response to a call. */
  readonly responses: readonly LocatedObject[];
}

/** The parsed body of a request to generateContent, with the model from the path of the request. */
export interface GoogleRequest {
  readonly body: JsonObject;
  readonly model: string;
  readonly contents: readonly Content[];
  readonly functions: readonly LocatedObject[];
}

export function readGoogle(body: JsonObject, model: string): GoogleRequest {
  return {
    body,
    model,
    contents: locateObjects(body['contents'], (index) => `contents[${index}]`).map(readContent),
    functions: locateObjects(body['tools'], (index) => `tools[${index}]`).flatMap(
      ({ path, value }) =>
        locateObjects(
          value['functionDeclarations'],
          (at) => `${path}.function_declarations[${at}]`,
        ),
    ),
  };
}

function readContent({ path, value }: LocatedObject, index: number): Content {
  const parts = locateObjects(value['parts'], (at) => `${path}.parts[${at}]`);
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

/** Reads the call or the response in a part. */
export function readFunction({ value }: LocatedObject): JsonObject {
  return readObject(value['functionCall'] ?? value['functionResponse']);
}
