import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { closeAfterTest } from './close-after-test.js';

/** Where Debian's package `chromium` puts the program. */
const PROGRAM = '/usr/bin/chromium';
const isInstalled = existsSync(PROGRAM);

/** A page of a browser, and what went wrong in it: errors of scripts, what its policy forbade, dialogs. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
}

let browser: Browser | undefined;

/** One headless Chromium for the tests of a file. It has to be called at the top. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!isInstalled) return;
    browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] });
  }, 30_000);
  afterAll(async () => browser?.close());
}

/** A test that needs the browser. Where it isn't installed, the test is skipped, and its title says so. */
export function itInBrowser(title: string, test: () => Promise<void>): void {
  const shown = isInstalled ? title : `${title} (skipped: chromium isn't installed)`;
  it.skipIf(!isInstalled)(shown, test, 60_000);
}

/** Opens a URL, in a test with `guardTransportTests`: pages close before their application, which would wait for them. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser!.newContext({ reducedMotion: 'reduce', ...options });
  closeAfterTest(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser also says which requests were answered with an error; those are no mistakes of the page.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

const axe = fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url));

/** What axe finds on a page: the rule, and the elements that break it. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in globalThis'))) await page.evaluate(readFileSync(axe, 'utf8'));
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    // Without the rest of its report, which takes most of its time.
    "axe.run({ resultTypes: ['violations'] })",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
