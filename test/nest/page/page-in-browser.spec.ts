import { describe, expect } from 'vitest';
import { type CanActivate, Controller, type ExecutionContext, Get, Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { enabledSpanGroups, managedSpan, SpanGroup } from 'nest-lens';
import { express, fastify, type HttpPlatform } from '../../support/adapters.js';
import { accessibilityFindings, itInBrowser, openPage, useBrowser } from '../../support/browser.js';
import { guardTransportTests } from '../../support/close-after-test.js';
import { lensApp, type LensApp } from '../../support/lens-app.js';

useBrowser();

@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    return headers['authorization'] === 'Bearer night-shift';
  }
}

const MARKUP = '<img src=x onerror=alert(1)>';
const REVERSED = 'rtl\u202egnirts';
const LONG = 'x'.repeat(10_000);

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders', {
    name: 'orders.place',
    attributes: () => ({ 'order.card_token': 'tok_1', 'order.id': 7 }),
  })
  place(): string {
    return managedSpan('stock', 'stock.take', () => {
      throw new RangeError('sold out');
    });
  }

  @Get('odd')
  @SpanGroup('orders', { name: MARKUP })
  odd(): string {
    trace.getActiveSpan()?.setAttributes({ [MARKUP]: MARKUP, [REVERSED]: REVERSED, long: LONG });
    return 'odd';
  }
}

const startOn = (platform: HttpPlatform, spec = 'default', groups: string[] = []): Promise<LensApp> =>
  lensApp(platform)
    .forRoot({
      registrations: [
        {
          namespace: 'shop',
          groups: ['orders', 'stock'],
          presets: { default: ['orders'], slow: ['stock'] },
        },
        { namespace: MARKUP, groups },
      ],
      introspection: { page: true, recentTraces: 20, guards: [TokenGuard], runtimeControl: true },
    })
    .spec(spec)
    .controllers(OrdersController)
    .start();
const signedIn = { extraHTTPHeaders: { authorization: 'Bearer night-shift' } };

describe.each([express, fastify])('the page, in Chromium, on $name', (platform) => {
  guardTransportTests();
  itInBrowser('asks for a token when a guard refuses, and keeps it for the tab', async () => {
    const app = await startOn(platform);
    await app.get('/orders');
    const { traces } = (await app.get('/lens/traces', { headers: signedIn.extraHTTPHeaders })).json();
    // Somebody has sent the address of a trace.
    const { page, complaints } = await openPage(app.url(`/lens#trace=${traces[0].traceId}`));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('refused this token').waitFor();
    await page.getByLabel('Token').fill('night-shift');
    await page.keyboard.press('Enter');
    await page.getByRole('switch', { name: 'orders' }).waitFor();
    await page.getByRole('heading', { name: 'orders.place' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).isVisible()).toBe(false);
    await page.reload();
    await page.getByRole('switch', { name: 'orders' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the page, in Chromium', () => {
  const start = (spec?: string, groups?: string[]): Promise<LensApp> => startOn(express, spec, groups);
  guardTransportTests();
  itInBrowser('turns a group on for a while by the keyboard, counts down, and goes back', async () => {
    const app = await start();
    const { page, complaints } = await openPage(app.url('/lens'), signedIn);
    await page.getByLabel('A change lasts').selectOption('1 hour');
    const stock = page.getByRole('switch', { name: 'stock' });
    await stock.focus();
    await page.keyboard.press('Space');
    await page.getByText('stock is on for 1 hour.').waitFor({ state: 'attached' });
    expect(await stock.getAttribute('aria-checked')).toBe('true');
    expect([...enabledSpanGroups()].sort()).toEqual(['orders', 'stock']);
    expect(await page.getByRole('timer').innerText()).toMatch(/^(1:00:00|59:\d\d)$/);
    const first = await page.getByRole('timer').innerText();
    await page.waitForFunction(
      (shown) => (globalThis as any).document.querySelector('#countdown').textContent !== shown,
      first,
    );
    // Off again, which takes away what turned it on.
    await page.keyboard.press('Space');
    await page.getByText('stock is off for 1 hour.').waitFor({ state: 'attached' });
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    await page.getByRole('button', { name: 'End it now' }).click();
    await page.getByText('As configured,').waitFor();
    expect(await page.locator('#changes li').count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  itInBrowser('draws a trace, with its attributes and its exception', async () => {
    const app = await start('all');
    await app.get('/orders');
    const { page, complaints } = await openPage(app.url('/lens'), signedIn);
    await page.getByRole('link', { name: 'orders.place' }).click();
    await page.getByRole('heading', { name: 'orders.place' }).waitFor();
    expect(new URL(page.url()).hash).toMatch(/^#trace=[\da-f]{32}$/);
    const take = page.getByRole('button', { name: /^stock\.take/ });
    expect(await take.innerText()).toMatch(/error/);
    await page.getByRole('button', { name: /^orders\.place/ }).click();
    const attributes = page.locator('.attributes').first();
    expect(await attributes.innerText()).toMatch(/order\.card_token\s+\[REDACTED\]/);
    expect(await attributes.innerText()).toMatch(/order\.id\s+7/);
    await take.click();
    await page.getByText('RangeError: sold out').first().waitFor();
    const bar = await take.locator('.bar').boundingBox();
    const outer = await page
      .getByRole('button', { name: /^orders\.place/ })
      .locator('.bar')
      .boundingBox();
    expect(bar!.x).toBeGreaterThanOrEqual(outer!.x);
    expect(bar!.width).toBeLessThanOrEqual(outer!.width + 1);
    // A link to a trace opens it.
    const again = await openPage(page.url(), signedIn);
    await again.page.getByRole('heading', { name: 'orders.place' }).waitFor();
    // One that is gone says so.
    await again.page.goto(app.url('/lens#trace=0123'));
    await again.page.getByRole('alert').getByText('That trace is not kept').waitFor();
    expect(await again.page.locator('#waterfall').isVisible()).toBe(false);
    expect([...complaints, ...again.complaints]).toEqual([]);
  });

  itInBrowser('says what is on and why, what matches nothing, and what was meant', async () => {
    const app = await start('default,stok');
    const { page, complaints } = await openPage(app.url('/lens'), signedIn);
    const row = (name: string) =>
      page.getByRole('listitem').filter({ has: page.getByRole('switch', { name }) });
    expect(await row('orders').innerText()).toMatch(/on because of\s+default/);
    expect(await row('stock').innerText()).toMatch(/off; would be turned on by\s+slow/);
    await page.getByText('stok matches no registered group or preset. Did you mean stock?').waitFor();
    await page.getByRole('button', { name: 'orders', exact: true }).click();
    await page.getByText('OrdersController.place', { exact: true }).waitFor();
    expect(await row('orders').innerText()).toContain('GET /orders');
    await page.getByLabel('Filter groups').fill('slow');
    await row('orders').waitFor({ state: 'detached' });
    expect(await page.getByText('1 of 2 groups', { exact: true }).isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  itInBrowser('measures what each group would cost, and draws it while it counts', async () => {
    const app = await start('default', [LONG]);
    const { page, complaints } = await openPage(app.url('/lens'), signedIn);
    await page.getByLabel('What would it cost?').selectOption('10 s');
    await page.getByRole('button', { name: 'Measure' }).click();
    await page.getByRole('progressbar').waitFor();
    await app.get('/orders');
    // What it has counted after a second; stock is off, and counts all the same.
    await page.getByText(/^All on:.*2 spans in .* so far/).waitFor();
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    const meter = page.getByRole('listitem').filter({ hasText: 'stock' }).locator('.meter').first();
    expect((await meter.boundingBox())!.width).toBeGreaterThan(10);
    // Given up half-way: the next one may begin at once.
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Measure' }).click();
    await page.getByText(/ in .* so far/).waitFor();
    expect(await page.getByRole('alert').isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  itInBrowser('shows names of strangers as text', async () => {
    const app = await start('all', [MARKUP, REVERSED, LONG]);
    await app.get('/orders/odd');
    const { page, complaints } = await openPage(app.url('/lens'), {
      ...signedIn,
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole('link', { name: MARKUP }).click();
    // The list of traces may be drawn anew between the look and the click.
    const attributes = page.locator('.attributes').first();
    for (let tries = 0; tries < 5 && !(await attributes.isVisible()); tries++) {
      await page.getByRole('button', { name: /^<img/ }).last().click();
      await attributes.waitFor({ timeout: 3_000 }).catch(() => undefined);
    }
    await attributes.waitFor();
    expect(await page.locator('img').count()).toBe(0);
    const texts = await page.locator('bdi, dt, dd').allTextContents();
    for (const text of [MARKUP, REVERSED, LONG]) expect(texts).toContain(text);
    expect(await page.getByText('hidden characters').first().isVisible()).toBe(true);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
  });

  itInBrowser('has no finding of axe, in light and dark, and on a phone', async () => {
    const app = await start('all,stok');
    await app.get('/orders');
    const { page } = await openPage(app.url('/lens'), signedIn);
    await page.getByRole('link', { name: 'orders.place' }).click();
    await page.getByRole('button', { name: /^stock\.take/ }).click();
    await page.getByRole('button', { name: 'orders', exact: true }).click();
    await page.getByText('OrdersController.place', { exact: true }).waitFor();
    const found: Record<string, string[]> = { light: await accessibilityFindings(page) };
    await page.emulateMedia({ colorScheme: 'dark' });
    found['dark'] = await accessibilityFindings(page);
    await page.setViewportSize({ width: 390, height: 844 });
    found['on a phone'] = await accessibilityFindings(page);
    const stranger = await openPage(app.url('/lens'));
    await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    found['before the token'] = await accessibilityFindings(stranger.page);
    expect(found).toEqual({ light: [], dark: [], 'on a phone': [], 'before the token': [] });
  });
});
