/** One line of `muster doctor`. */
export interface Check {
  readonly name: string;
  /** `fail`: runs will not work; `warn`: something is missing or worth knowing. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail, fix: null };
}

export function warn(name: string, detail: string, fix: string | null): Check {
  return { name, status: 'warn', detail, fix };
}

export function fail(name: string, detail: string, fix: string | null): Check {
  return { name, status: 'fail', detail, fix };
}
