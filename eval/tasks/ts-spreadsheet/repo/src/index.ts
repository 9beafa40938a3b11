export { Sheet } from './sheet.ts';
export { SheetError, type Value } from './values.ts';
