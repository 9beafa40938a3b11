import { ACP_CLIENT_NAMES } from './acp-clients.ts';

/** The flags of the commands for MCP servers, and of those that serve other programs and the page. */
export const SERVER_FLAGS = {
  'print-config': {
    value: 'CLIENT',
    help: `print the configuration of an editor instead: ${ACP_CLIENT_NAMES.join(', ')}`,
    completes: { words: ACP_CLIENT_NAMES },
  },
  login: { help: 'try the key of a provider and store it, as `muster login` does' },
  'tool-per-agent': { help: 'offer each agent as a tool of its own, besides Task' },
  http: {
    value: '[HOST:]PORT',
    help: 'serve over HTTP, on 127.0.0.1 by default; port 0: a free port',
  },
  port: {
    value: 'PORT',
    help: 'the port of the page; 0: a free port; default: 7373 or the next one that is free',
  },
  host: { value: 'HOST', help: 'the address of the page, which must be one of this machine alone' },
  notify: {
    value: 'URL',
    help: 'where to send a notification when a question begins to wait: JSON, or with ntfy+https://… a text for ntfy',
  },
  export: {
    value: 'DIR',
    help: 'write the page with the task and all below it to this directory instead, without secrets',
    path: 'directories',
  },
  'bearer-token-file': {
    value: 'FILE',
    help: 'the file with the token that clients must send',
    path: 'files',
  },
  'no-browser': { help: 'print the address of the page instead of opening it' },
  project: { help: 'write into .mcp.json of this project instead of your own file' },
  transport: {
    short: 't',
    value: 'TRANSPORT',
    help: 'stdio for a command; http (the default) or sse for a URL',
    completes: { words: ['stdio', 'http', 'sse'] },
  },
  env: {
    short: 'e',
    value: 'NAME=VALUE',
    help: 'a variable of the server, such as TOKEN=${TOKEN}; repeatable',
  },
  header: {
    short: 'H',
    value: 'HEADER',
    help: 'a header, such as "Authorization: Bearer ${TOKEN}"; repeatable',
  },
  url: { value: 'URL', help: 'the address, instead of after the name' },
  'bearer-token-env-var': {
    value: 'VARIABLE',
    help: 'the variable whose value is sent as the header Authorization: Bearer',
  },
  'client-id': { value: 'ID', help: 'the id under which the authorization server knows Muster' },
  'callback-port': {
    value: 'PORT',
    help: 'the port of 127.0.0.1 to which the browser returns after a login',
  },
  timeout: {
    value: 'MS',
    help: 'the milliseconds for which a call may show no sign of life',
  },
  'include-tools': { value: 'NAMES', help: 'the only tools that are offered, with commas' },
  'exclude-tools': { value: 'NAMES', help: 'the tools that are not offered, with commas' },
} as const;
