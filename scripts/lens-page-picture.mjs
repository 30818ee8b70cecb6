// Takes docs/lens-page.png: the page of the sample shop, with an override, a measurement and the trace of an order.
//
//   npm run build -w sample-app && node scripts/lens-page-picture.mjs [file]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { indexedPng } from './indexed-png.mjs';

const shopFolder = fileURLToPath(new URL('../sample-app', import.meta.url));
const file = process.argv[2] ?? fileURLToPath(new URL('../docs/lens-page.png', import.meta.url));
const TOKEN = 'picture';
const card = '4242424242424242';

/** A collector that takes everything. */
const collector = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
await once(collector.listen(0, '127.0.0.1'), 'listening');

const shop = spawn(process.execPath, ['--import', './dist/tracing.js', 'dist/main.js'], {
  cwd: shopFolder,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    ...process.env,
    PORT: '0',
    SHOP_LENS_TOKEN: TOKEN,
    NEST_LENS_ENABLED: 'true',
    NEST_LENS_METRICS_ENABLED: 'false',
    OTEL_BSP_SCHEDULE_DELAY: '500',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}`,
  },
});

async function addressOf() {
  for await (const line of createInterface(shop.stdout)) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url !== undefined) return url.replace('localhost', '127.0.0.1');
  }
  throw new Error('the shop has not started');
}

const post = (url, body) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((response) => response.text());

async function shopping(url) {
  const get = (path) => fetch(url + path).then((response) => response.text());
  await get('/products');
  await get('/products/1');
  await post(`${url}/orders`, { lines: [{ productId: 1, quantity: 1 }], card });
  await get('/products/2');
  await post(`${url}/orders`, { lines: [{ productId: 3, quantity: 50 }], card });
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const url = await addressOf();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 1080 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${url}/lens`);
  await page.locator('#spec').fill('per_request,db_query');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('An override.').waitFor();
  const shopper = (async () => {
    for (let round = 0; round < 40 && browser.isConnected(); round++)
      await shopping(url).catch(() => undefined);
  })();
  await page.getByRole('button', { name: 'Measure' }).click();
  await page.locator('#total').waitFor();
  await page.getByRole('button', { name: 'Measure' }).waitFor();
  await page.locator('#spec').fill('');
  await shopper;
  // The last order is one that isn't sold out, so its trace has every step. The page refreshes every three seconds.
  await post(`${url}/orders`, { lines: [{ productId: 2, quantity: 1 }], card });
  await page.waitForTimeout(4_000);
  const order = page.locator('.trace', { hasText: /POST \/orders/ }).filter({ hasNotText: 'error' });
  await order.first().getByRole('link').click();
  await page.getByRole('heading', { level: 3 }).waitFor();
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
  await page.waitForTimeout(4_000);
  const screenshot = await page.screenshot({ fullPage: true });
  writeFileSync(file, await indexedPng(await browser.newPage(), screenshot));
  console.log(file);
} finally {
  await browser.close();
  shop.kill('SIGTERM');
  collector.close();
}
