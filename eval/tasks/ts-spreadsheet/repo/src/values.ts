export type Code = '#NAME?' | '#REF!' | '#VALUE!' | '#DIV/0!' | '#CYCLE!';

export class SheetError {
  readonly code: Code;

  constructor(code: Code) {
    this.code = code;
  }
}

export type Value = number | string | boolean | null | SheetError;
