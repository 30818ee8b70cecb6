import { describe, expect, it } from 'vitest';
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
});
