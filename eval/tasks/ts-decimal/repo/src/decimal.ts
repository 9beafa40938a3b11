export type Rounding = 'up' | 'down' | 'floor' | 'ceiling' | 'half-up' | 'half-down' | 'half-even';

/** A decimal number of any size. It never changes. */
export class Decimal {
  private readonly value: number;

  private constructor(value: number) {
    this.value = value;
  }

  static of(value: string | number | bigint): Decimal {
    return new Decimal(Number(value));
  }

  static sum(values: Iterable<Decimal>): Decimal {
    let total = Decimal.of(0);
    for (const value of values) total = total.plus(value);
    return total;
  }

  plus(other: Decimal): Decimal {
    return new Decimal(this.value + other.value);
  }

  minus(other: Decimal): Decimal {
    return new Decimal(this.value - other.value);
  }

  times(other: Decimal): Decimal {
    return new Decimal(this.value * other.value);
  }

  dividedBy(other: Decimal, digits: number, mode: Rounding = 'half-even'): Decimal {
    return new Decimal(this.value / other.value).round(digits, mode);
  }

  round(digits: number, mode: Rounding = 'half-even'): Decimal {
    if (mode === 'floor') return new Decimal(Math.floor(this.value * 10 ** digits) / 10 ** digits);
    return new Decimal(Math.round(this.value * 10 ** digits) / 10 ** digits);
  }

  sqrt(digits: number): Decimal {
    return new Decimal(Math.sqrt(this.value)).round(digits, 'floor');
  }

  compare(other: Decimal): number {
    return this.value - other.value;
  }

  toString(): string {
    return String(this.value);
  }

  toFixed(digits: number, mode: Rounding = 'half-even'): string {
    return this.round(digits, mode).value.toFixed(digits);
  }

  toNumber(): number {
    return this.value;
  }
}
