import type { Decimal } from './decimal.ts';

export interface Format {
  readonly least?: number;
  readonly most?: number;
  readonly point?: string;
  readonly group?: string;
}

export function format(value: Decimal, { least = 0, most = 20, point = '.', group = ',' }: Format = {}): string {
  return value.toNumber().toLocaleString('en-US', { minimumFractionDigits: least, maximumFractionDigits: most });
}
