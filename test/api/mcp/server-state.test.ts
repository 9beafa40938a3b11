import { expect, test } from 'vitest';
import { decideServerState } from '../../../src/api/mcp/server-board.ts';
import type { ServerState } from '../../../src/api/mcp/server-status.ts';
import type { McpServerStatus } from '../../../src/mcp/connections.ts';
import { McpServerError } from '../../../src/mcp/server-error.ts';
import type { CatalogState } from '../../../src/mcp/catalog-server.ts';

const accepted = { instructions: '', tools: [] };
const change = { added: ['x'], removed: [], changed: [] };
const failed = (kind: McpServerError['kind']) => new McpServerError('why', { server: 's', kind });
const known = (changes: Partial<CatalogState> = {}): Omit<CatalogState, 'entry'> => ({
  isEnabled: true,
  isAsking: false,
  accepted,
  change: null,
  ...changes,
});
type Connection = Pick<McpServerStatus, 'state' | 'failure'> | null;
const connection = (
  state: McpServerStatus['state'],
  failure: McpServerError | null = null,
): Connection => ({ state, failure });

test.each<[ServerState, Omit<CatalogState, 'entry'>, Connection]>([
  ['unused', known({ accepted: null }), null],
  ['connecting', known({ accepted: null, isAsking: true }), null],
  ['connecting', known(), connection('starting', failed('lost'))],
  ['idle', known(), null],
  ['idle', known(), connection('stopped')],
  ['connected', known(), connection('ready')],
  ['changed', known({ change }), connection('ready')],
  ['changed', known({ change }), null],
  ['login', known({ accepted: null }), connection('stopped', failed('login'))],
  ['failed', known({ accepted: null }), connection('stopped', failed('start'))],
  ['failed', known({ change }), connection('waiting', failed('lost'))],
  ['failed', known(), connection('failed', failed('start'))],
  ['disabled', known({ isEnabled: false }), connection('ready')],
])('the state is %s', (state, catalog, at) => {
  expect(decideServerState(catalog, at)).toBe(state);
});
