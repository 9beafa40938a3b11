import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** The browser of the system. */
const CHROMIUM = process.env['MUSTER_TEST_CHROMIUM'] ?? '/usr/bin/chromium';

/** Starts the browser without a window, and without any request of its own. */
export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-extensions',
      '--disable-component-extensions-with-background-pages',
      '--disable-gpu',
      '--js-flags=--expose-gc',
      '--enable-precise-memory-info',
    ],
  });
}

/** A page with a record of all that must not happen on it. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The addresses of requests that do not go to the server of the page. */
  readonly strayRequests: string[];
  /** Errors, dialogs, violations of the policy, and whatever the page printed as an error. */
  readonly problems: string[];
}

interface WatchOptions {
  readonly url: string;
  /** An address that is opened before, such as the one with which the page gets its key. */
  readonly login?: string;
  readonly scheme?: 'light' | 'dark';
  readonly size?: { readonly width: number; readonly height: number };
  /** The time that the page sees, in milliseconds since the epoch. Default: the present. */
  readonly now?: number;
}

/** Opens a page, and records its requests, errors and violations of its policy. */
export async function openWatchedPage(
  browser: Browser,
  { url, login, scheme = 'light', size = { width: 1280, height: 800 }, now }: WatchOptions,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: size,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const strayRequests: string[] = [];
  const problems: string[] = [];
  const { origin, protocol } = new URL(url);
  const own = protocol === 'file:' ? 'file:///' : `${origin}/`;
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(own) && !address.startsWith('data:')) strayRequests.push(address);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    // The time at which the first task, or the end of a plain page, is there.
    new MutationObserver((_, observer) => {
      if (document.querySelector('[role=treeitem], #end') === null) return;
      Reflect.set(globalThis, 'firstViewMs', performance.now());
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
    const violations: string[] = [];
    Reflect.set(globalThis, 'policyViolations', violations);
    document.addEventListener('securitypolicyviolation', (event) => {
      violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  if (now !== undefined) await page.clock.setFixedTime(now);
  if (login !== undefined) await page.goto(login);
  await page.goto(url);
  return { page, context, strayRequests, problems };
}

/** Returns the violations of the policy of the page so far. */
export async function readViolations(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => Reflect.get(globalThis, 'policyViolations') as string[]);
}
