import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import { toUrlHost, type HttpAddress } from './http-address.ts';

/**
 * Lets a server listen. Resolves to its port. Rejects with MusterError `CONFLICT` if the address cannot be used.
 *
 * @param flag the flag that names the address, for the message
 */
export async function listen(
  server: Server,
  { host, port }: HttpAddress,
  flag: string,
): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (thrown) {
    const code = systemErrorCode(thrown) ?? errorMessage(thrown);
    const message = `${flag}: the address ${toUrlHost(host)}:${port} cannot be used (${code}); end the program that uses it, or name another port`;
    throw new MusterError('CONFLICT', message, { cause: thrown });
  }
  return (server.address() as AddressInfo).port;
}
