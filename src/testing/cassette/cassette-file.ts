import { readFileSync, writeFileSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import type { NormalizedRequest } from './normalize-request.ts';

/** A recorded request and its answer. */
export interface RecordedExchange {
  readonly request: NormalizedRequest;
  readonly response: {
    readonly status: number;
    /** The headers that say how to read the body, or when to repeat the request. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

const FORMAT = 1;

/** Reads a cassette. Throws an error that names the file and says what to do. */
export function readCassette(file: string): readonly RecordedExchange[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new Error(
      `the cassette ${file} cannot be read (${errorMessage(thrown)}); record it with the option target`,
      { cause: thrown },
    );
  }
  const { format = null, exchanges: list = null } = isJsonObject(content) ? content : {};
  if (format !== FORMAT || !Array.isArray(list))
    throw new Error(`${file} is no cassette of this version; record it again`);
  const exchanges: readonly unknown[] = list;
  return exchanges.map((exchange, index) => {
    if (isExchange(exchange)) return exchange;
    throw new Error(`${file}: exchange ${index} has no request or no response; record it again`);
  });
}

function isExchange(value: unknown): value is RecordedExchange {
  if (!isJsonObject(value)) return false;
  const { request, response } = value;
  return (
    isJsonObject(request) &&
    typeof request['method'] === 'string' &&
    typeof request['path'] === 'string' &&
    isJsonObject(response) &&
    typeof response['status'] === 'number' &&
    typeof response['body'] === 'string' &&
    isJsonObject(response['headers'])
  );
}

/** Writes a cassette. Replaces the file. */
export function writeCassette(file: string, exchanges: readonly RecordedExchange[]): void {
  writeFileSync(file, `${JSON.stringify({ format: FORMAT, exchanges }, null, 2)}\n`);
}
