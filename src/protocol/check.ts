import { sanitizeForTerminal } from '../base/terminal-text.ts';

/** The result of one check of `muster doctor`. */
export interface Check {
  readonly name: string;
  /** `fail`: runs will not work; `warn`: something is missing or worth knowing. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** The user's next step; null for none. */
  readonly fix: string | null;
}

export function ok(name: string, detail: string): Check {
  return createCheck('ok', name, detail, null);
}

export function warn(name: string, detail: string, fix: string | null): Check {
  return createCheck('warn', name, detail, fix);
}

export function fail(name: string, detail: string, fix: string | null): Check {
  return createCheck('fail', name, detail, fix);
}

/** Makes both texts safe for a terminal, since they quote paths, errors, variables and servers. */
function createCheck(
  status: Check['status'],
  name: string,
  detail: string,
  fix: string | null,
): Check {
  return {
    name,
    status,
    detail: sanitizeForTerminal(detail, 'exact'),
    fix: fix === null ? null : sanitizeForTerminal(fix, 'exact'),
  };
}
