import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MusterError, systemErrorCode } from '../../base/errors.ts';

/** The only address on which the answer of a browser is taken. */
const HOST = '127.0.0.1';
const PATH = '/callback';
const MAX_HEADER_BYTES = 64 * 1024;

/** A listener for the answer of a browser at the end of a login. */
export interface RedirectListener {
  /** The address to which the browser returns. */
  readonly redirectUrl: string;
  /**
   * Waits for the first answer that belongs to the login. The browser gets a page that says so. `onOther` is called for
   * an answer that does not belong to it, which is refused.
   */
  waitFor(
    isOwnAnswer: (answer: URLSearchParams) => boolean,
    onOther: () => void,
  ): Promise<URLSearchParams>;
  /** Shows the browser how the login has ended, and stops to listen. */
  close(): Promise<void>;
}

/**
 * Starts to listen on a port of this machine only. Rejects with CONFLICT if the port is in use.
 *
 * @param wanted the address that the entry of the server names; null for a free port
 */
export async function openRedirectListener(wanted: string | null): Promise<RedirectListener> {
  const url = new URL(wanted ?? `http://${HOST}${PATH}`);
  let handle: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    if (handle === null) sendPage(response, 404, 'No login waits for an answer here.');
    else handle(request, response);
  });
  const isFixed = wanted !== null && url.port !== '';
  await listen(server, isFixed ? Number(url.port) : 0);
  const { port } = server.address() as AddressInfo;
  url.port = String(port);
  return {
    redirectUrl: url.href,
    waitFor: (isOwnAnswer, onOther) =>
      new Promise((resolve) => {
        handle = (request, response) => {
          const target = URL.parse(request.url ?? '', url.origin);
          const isLocal =
            request.headers.host === `${HOST}:${port}` || request.headers.host === url.host;
          if (request.method !== 'GET' || target?.pathname !== url.pathname || !isLocal) {
            sendPage(response, 404, 'There is nothing here.');
          } else if (isOwnAnswer(target.searchParams)) {
            // A second answer would find nobody who waits.
            handle = null;
            sendPage(response, 200, describeAnswer(target.searchParams));
            resolve(target.searchParams);
          } else {
            sendPage(
              response,
              400,
              'This answer does not belong to the login that waits. It was not used.',
            );
            onOther();
          }
        };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // A browser may hold a connection open on which it sends nothing.
        setTimeout(() => server.closeAllConnections(), CLOSE_MS).unref();
      }),
  };
}

/** The time in which a browser can read the last page. */
const CLOSE_MS = 500;

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, HOST, resolve);
    });
  } catch (thrown) {
    const code = systemErrorCode(thrown) ?? 'unknown error';
    const message = `port ${port} of this machine, to which the browser must return, cannot be used (${code}); end the program that uses it, or change oauth.callback_port of the server`;
    throw new MusterError('CONFLICT', message, { cause: thrown });
  }
}

/** Describes an answer without any text from it. Whether the login succeeds is only known after the exchange. */
function describeAnswer(answer: URLSearchParams): string {
  return answer.has('code')
    ? 'Muster has received the answer. Look at the terminal to see whether the login has succeeded. You can close this page.'
    : 'The login was not completed. Look at the terminal for the reason. You can close this page.';
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Muster</title><body style="font: 16px sans-serif; margin: 4em"><h1>Muster</h1><p>${text}</p></body></html>\n`;
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(html);
}
