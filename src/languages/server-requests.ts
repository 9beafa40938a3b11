import { isJsonObject } from '../base/json.ts';
import type { ServerProgramRow } from './server-table.ts';

/** Returns true if a request of a server says that it answers requests for the problems of a document. */
export function registersProblems(params: unknown): boolean {
  const registrations = isJsonObject(params) ? params['registrations'] : undefined;
  return (
    Array.isArray(registrations) &&
    registrations.some((each) => isJsonObject(each) && each['method'] === 'textDocument/diagnostic')
  );
}

/** Answers a request of a server. Nothing that a server asks for changes anything. */
export function answerServer(method: string, params: unknown, row: ServerProgramRow): unknown {
  switch (method) {
    case 'workspace/configuration': {
      const items = isJsonObject(params) && Array.isArray(params['items']) ? params['items'] : [];
      return items.map((item) => {
        const section = isJsonObject(item) ? item['section'] : undefined;
        return typeof section === 'string' ? (row.settings?.[section] ?? null) : null;
      });
    }
    case 'workspace/applyEdit':
      return { applied: false };
    default:
      return null;
  }
}
