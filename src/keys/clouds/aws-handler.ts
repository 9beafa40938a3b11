import { TOKEN_REQUEST_MS, type CloudDeps } from './cloud-deps.ts';

/** A request of AWS's own library. */
interface AwsRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Creates the handler with which AWS's own library sends requests for credentials: through the proxy and with the
 * certificates that are configured for Muster.
 */
export function createAwsHandler({ fetch }: Pick<CloudDeps, 'fetch'>) {
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: AwsRequest) {
      const { method, headers, body } = request;
      const sent = typeof body === 'string' || body instanceof Uint8Array ? body : undefined;
      const response = await fetch(toUrl(request), {
        method,
        // The client writes these itself.
        headers: omit(headers, ['host', 'content-length']),
        ...(sent !== undefined && { body: sent }),
        signal: AbortSignal.timeout(TOKEN_REQUEST_MS),
      });
      return {
        response: {
          statusCode: response.status,
          reason: response.statusText,
          headers: Object.fromEntries(response.headers),
          body: new TextEncoder().encode(await response.text()),
        },
      };
    },
    httpHandlerConfigs: () => ({}),
    updateHttpClientConfig: () => {},
    destroy: () => {},
  };
}

function toUrl({ protocol, hostname, port, path, query = {} }: AwsRequest): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: string | null) =>
      one === null
        ? encodeURIComponent(name)
        : `${encodeURIComponent(name)}=${encodeURIComponent(one)}`,
    ),
  );
  const search = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}${search}`;
}

function omit(
  headers: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())),
  );
}
