export { Decimal, type Rounding } from './decimal.ts';
export { format, type Format } from './format.ts';
