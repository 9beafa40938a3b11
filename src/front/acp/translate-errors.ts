import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { errorMessage, MusterError, UsageError, type ErrorCode } from '../../base/errors.ts';

/** The codes of the protocol for errors that are not internal ones. */
const RPC_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  INVALID_PARAM: -32_602,
  NOT_FOUND: -32_002,
};

/** Runs the handler of a request. Errors of Muster become errors of the protocol, with their message. */
export async function translateErrors<Response>(
  handle: () => Promise<Response> | Response,
): Promise<Response> {
  try {
    return await handle();
  } catch (thrown) {
    if (thrown instanceof RequestError) throw thrown;
    const message = errorMessage(thrown);
    if (thrown instanceof UsageError) throw new RequestError(-32_602, message);
    const code = thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR';
    throw new RequestError(RPC_CODES[code] ?? -32_603, message, { code });
  }
}
