import { INVALID_REQUEST } from '@modelcontextprotocol/server';

/**
 * Creates the response that refuses a request before it reaches a server of the protocol.
 *
 * @param code the code of the error of the protocol. Default: that of an invalid request
 */
export function refuse(status: number, message: string, code: number = INVALID_REQUEST): Response {
  const close = status === 413 ? { connection: 'close' } : {};
  return Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: close },
  );
}
