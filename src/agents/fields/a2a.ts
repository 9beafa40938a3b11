import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { A2aAuth, A2aServer } from '../../protocol/remote-agent.ts';
import { fieldText } from './common.ts';

/**
 * Reads the server of a remote agent.
 *
 * @param card the URL of the agent card, the card itself, or the card as JSON text
 * @param auth the credentials with the fields of Gemini CLI's files. Default: none
 * @returns the problem as a sentence if they cannot be read
 */
export function readA2aServer(
  card: JsonValue | undefined,
  auth: JsonValue | undefined,
): A2aServer | string {
  const place = readCard(card);
  if (place === null)
    return 'The agent card must be a URL that begins with http:// or https:// and holds no password, or a JSON object.';
  if (auth === undefined || auth === null) return { protocol: 'a2a', card: place };
  const credentials = isJsonObject(auth) ? readAuth(auth) : '`auth` must be a map.';
  if (typeof credentials === 'string') return credentials;
  return { protocol: 'a2a', card: place, auth: credentials };
}

function readCard(value: JsonValue | undefined): A2aServer['card'] | null {
  if (isJsonObject(value)) return value;
  const text = fieldText(value) ?? '';
  if (text.startsWith('{')) return parseObject(text);
  const url = URL.parse(text);
  const isUsable =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  return isUsable ? text : null;
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    // The caller reports what is expected instead.
    return null;
  }
}

/** Matches the name of a header or of a scheme of HTTP. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

function readAuth(auth: JsonObject): A2aAuth | string {
  const text = (name: string): string | undefined => fieldText(auth[name]);
  const [type, key, name, scheme] = ['type', 'key', 'name', 'scheme'].map(text);
  switch (type) {
    case 'apiKey':
      if (key === undefined) return '`auth` of type `apiKey` needs `key`.';
      if (name !== undefined && !TOKEN.test(name))
        return '`auth.name` must be the name of a header.';
      return { type, key, ...(name === undefined ? {} : { name }) };
    case 'http':
      if (scheme === undefined || !TOKEN.test(scheme))
        return '`auth` of type `http` needs `scheme`, such as `Bearer`.';
      return readHttpAuth(scheme, text);
    case 'google-credentials':
      return `\`auth\` of type \`${type}\` is not supported. Write \`type: http\`, \`scheme: Bearer\` and \`token: "!gcloud auth print-access-token"\` in an agent of your own.`;
    case 'oauth':
      return `\`auth\` of type \`${type}\` is not supported. Write \`type: http\`, \`scheme: Bearer\` and a \`token\` (\`$NAME\`, or \`!command\` that prints it).`;
    default:
      return '`auth.type` must be `apiKey` or `http`.';
  }
}

function readHttpAuth(
  scheme: string,
  text: (name: string) => string | undefined,
): A2aAuth | string {
  const value = text('value') ?? (/^bearer$/i.test(scheme) ? text('token') : undefined);
  if (value !== undefined) return { type: 'http', scheme, value };
  if (!/^basic$/i.test(scheme))
    return `\`auth\` with the scheme \`${scheme}\` needs \`${/^bearer$/i.test(scheme) ? 'token' : 'value'}\`.`;
  const [username, password] = [text('username'), text('password')];
  if (username === undefined || password === undefined)
    return '`auth` with the scheme `Basic` needs `username` and `password`.';
  return { type: 'http', scheme: 'Basic', username, password };
}
