import { describe, expect, it, jest } from '@jest/globals';
import { SpanRegistry } from 'nest-lens';
import { aroundSnippets, bootWith, codes, importAnew } from './running-snippets.js';
import { names, spansOf } from './span-tree.js';

describe('docs/libraries.md', () => {
  aroundSnippets();

  it('W5: a library that registers at import is in time, and its span is made', async () => {
    const { sendMail } = await importAnew('library');
    const { captured } = await bootWith('default', {});

    expect(await sendMail('ann@example.com')).toBe('sent to ann@example.com');
    expect(names(await spansOf(captured))).toEqual(['mail.send']);
    expect(codes()).toEqual([]);
  });

  it('F1: the optional import finds the real thing', async () => {
    await importAnew('optional-lens');

    expect(SpanRegistry.namespaces()).toEqual(['acme_mail']);
  });

  it('F2, F3: the optional import falls back where the API of OpenTelemetry is missing', async () => {
    jest.unstable_mockModule('nest-lens/core', () => {
      throw new Error("Cannot find package '@opentelemetry/api'");
    });
    const lens = await importAnew('optional-lens');
    jest.unstable_unmockModule('nest-lens/core');

    expect(lens.managedSpan('mail_send', 'mail.send', (span: unknown) => [span])).toEqual([undefined]);
    expect([...lens.SpanRegistry.groups()]).toEqual([]);
    expect(SpanRegistry.namespaces()).toEqual([]);
  });
});
