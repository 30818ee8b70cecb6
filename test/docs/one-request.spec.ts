import { describe, expect, it, vi } from 'vitest';
import { createHmac } from 'node:crypto';
import { aroundSnippets, boot, json, setEnv } from './running-snippets.js';
import { quoted, readPage } from './documentation.js';
import { REQUEST_OPT_IN_KEYS } from '../../src/core/opt-in/request-opt-in-options.js';

vi.setConfig({ testTimeout: 30_000 });

describe('docs/one-request.md', () => {
  aroundSnippets();

  const key = 'k'.repeat(32);
  const page = readPage('docs/one-request.md');

  it('I1: the module as shown obeys the request as shown, and one that is signed as the page says', async () => {
    setEnv({
      NEST_LENS_ENABLED: 'true',
      NEST_LENS_EXPORTER: 'none',
      NEST_LENS_METRICS_ENABLED: 'no',
      NEST_LENS_SIGNING_KEY: key,
    });
    const { AppModule } = await import('./snippets/one-request.js');
    const { getInFull } = await import('./snippets/signed-request.js');
    const url = await boot(AppModule);
    await getInFull(`${url}/lens/groups`, key);
    const signed = `orders;exp=${Date.now() + 60_000}`;
    const signature = createHmac('sha256', key).update(signed).digest('base64url');
    const headers = { 'x-lens-groups': `${signed};sig=${signature}` };
    const { requestOptIn } = await json(`${url}/lens/groups`, { headers });
    expect(requestOptIn).toEqual({ allow: 'per_request', accepted: 2, ignored: {} });
  });

  it('names every option of requestOptIn, and every reason that is counted', () => {
    const options = page.table('Option', 'Type', 'Default', 'Meaning').flatMap(([option]) => quoted(option!));
    expect(options).toEqual(Object.keys(REQUEST_OPT_IN_KEYS));
    const reasons = page.table('Counted as', 'The header').flatMap(([reason]) => quoted(reason!));
    expect(reasons.sort()).toEqual(
      [
        ...['accepted', 'badSignature', 'duplicate', 'expired', 'expiresTooLate', 'malformed', 'notAllowed'],
        'oversized',
      ].sort(),
    );
  });
});
