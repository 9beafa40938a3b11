import { makeWorkspace, type Workspace } from '../workspace.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/cart/discount.ts':
    "import { round } from './round.ts';\n\n/** Takes the discount of a voucher from a price. */\nexport function applyDiscount(price: number, percent: number): number {\n  return round(price * (1 - percent / 100));\n}\n",
  'src/cart/round.ts':
    'export function round(amount: number): number {\n  return Math.round(amount * 100) / 100;\n}\n',
  'src/cart/totals.ts':
    "import { applyDiscount } from './discount.ts';\n\nexport class Totals {\n  sum = 0;\n\n  add(price: number, voucher: { percent: number }): void {\n    this.sum += applyDiscount(price, voucher.percent);\n  }\n}\n",
  'src/net/retry.ts':
    '/** Doubles with every attempt, up to a minute. */\nexport function retryDelay(attempt: number): number {\n  return Math.min(60_000, 100 * 2 ** attempt);\n}\n',
  'src/net/client.ts':
    "import { retryDelay } from './retry.ts';\n\nexport async function send(body: string, attempt = 0): Promise<void> {\n  const response = await fetch('/orders', { method: 'POST', body });\n  if (response.ok) return;\n  if (attempt > 5) throw new Error('the order could not be sent');\n  await new Promise((resolve) => setTimeout(resolve, retryDelay(attempt)));\n  return send(body, attempt + 1);\n}\n",
  'test/discount.test.ts':
    "test('a voucher of 10 % lowers the price', () => {\n  expect(applyDiscount(20, 10)).toBe(18);\n});\n",
  'README.md': '# Shop\n\nVouchers give a discount on every price.\n',
};

/** The project whose searches docs/code-search.md shows. */
export function shop(): Workspace {
  const workspace = makeWorkspace();
  for (const [path, text] of Object.entries(FILES)) workspace.write(path, text);
  return workspace;
}
