import { parseCell } from './cells.ts';
import type { Value } from './values.ts';

export class Sheet {
  private inputs = new Map<string, string>();

  set(name: string, input: string): string[] {
    if (parseCell(name) === null) throw new RangeError(`there is no cell ${name}`);
    this.inputs.set(name, input);
    return [name];
  }

  input(name: string): string {
    return this.inputs.get(name) ?? '';
  }

  value(name: string): Value {
    const input = this.input(name);
    if (input === '') return null;
    return Number.isNaN(Number(input)) ? input : Number(input);
  }
}
